"""Algorithm 1 of the paper, letter by letter: loops over components, frequencies and pairs.

Nothing is shared with the library. All is of one sign: ``K`` is the part's matrix.
"""

from itertools import permutations

import numpy as np
from scipy.special import digamma


class Algorithm:
    """The variational distributions of section IV.B, and the updates of the appendix."""

    def __init__(self, x, K, sigma, m0, R0, W0, nu0, alpha0):
        self.x, self.K, self.sigma = x, K, sigma
        self.m0, self.R0, self.W0, self.nu0, self.alpha0 = m0, R0, W0, nu0, alpha0
        self.d = len(m0)

    def start(self, q, w_mean, w_cov, m, R, W, nu):
        """Set q(z) (M, T), moments of w, and the factors of the components."""
        self.q, self.w_mean, self.w_cov = q.copy(), w_mean.copy(), w_cov.copy()
        self.m, self.R, self.W, self.nu = m.copy(), R.copy(), W.copy(), nu.copy()
        self.M, self.T = q.shape
        self.a, self.b = np.ones(self.T - 1), np.full(self.T - 1, self.alpha0)

    def iterate(self):
        """Update all factors, and return the Frobenius norm of the change of q(z)."""
        for k in range(self.T):
            self.update_beta(k)
            self.update_mu(k)
            self.update_lambda(k)
        before = self.q.copy()
        for m in range(self.M):
            self.update_z(m)
            self.update_w(m)
        return np.linalg.norm(self.q - before)

    def update_beta(self, k):
        if k < self.T - 1:  # q(beta_T = 1) = 1
            self.a[k] = 1.0 + sum(self.q[:, k])
            self.b[k] = self.alpha0 + sum(sum(self.q[:, t]) for t in range(k + 1, self.T))

    def update_mu(self, k):
        expected, q = self.nu[k] * self.W[k], self.q[:, k]
        pulled = self.R0 @ self.m0 + sum(q[m] * expected @ self.w_mean[m] for m in range(self.M))
        self.R[k] = self.R0 + sum(q) * expected
        self.m[k] = np.linalg.inv(self.R[k]) @ pulled

    def update_lambda(self, k):
        q = self.q[:, k]
        scatter = sum(q[m] * self.expected_outer(m, k) for m in range(self.M))
        self.W[k] = np.linalg.inv(np.linalg.inv(self.W0) + scatter)
        self.nu[k] = self.nu0 + sum(q)

    def expected_outer(self, m, k):
        """Return E (w_m - mu_k)(w_m - mu_k)^T under q."""
        gap = self.w_mean[m] - self.m[k]
        return np.outer(gap, gap) + self.w_cov[m] + np.linalg.inv(self.R[k])

    def update_z(self, m):
        h = np.array([self.log_h(m, k) for k in range(self.T)])
        h = np.exp(h - max(h))
        self.q[m] = h / sum(h)

    def log_h(self, m, k):
        log_det = self.d * np.log(2.0) + np.log(np.linalg.det(self.W[k]))
        log_det += sum(digamma((self.nu[k] + 1 - i) / 2.0) for i in range(1, self.d + 1))
        xi = self.nu[k] * np.trace(self.W[k] @ self.expected_outer(m, k))
        value = 0.5 * (log_det - self.d * np.log(2.0 * np.pi) - xi)
        if k < self.T - 1:
            value += digamma(self.a[k]) - digamma(self.a[k] + self.b[k])
        for t in range(k):
            value += digamma(self.b[t]) - digamma(self.a[t] + self.b[t])
        return value

    def update_w(self, m):
        S, pulled = np.zeros((self.d, self.d)), np.zeros(self.d)
        for k in range(self.T):
            S = S + self.q[m, k] * self.nu[k] * self.W[k]
            pulled = pulled + self.q[m, k] * self.nu[k] * (self.W[k] @ self.m[k])
        for i, j in permutations(range(len(self.x)), 2):
            delta = self.x[i] - self.x[j]
            weight = max(1.0 - self.K[i, j], 0.0)  # or S need not be a precision
            S = S + weight * np.outer(delta, delta) / (2.0 * self.sigma**2)
        self.w_cov[m] = np.linalg.inv(S)
        self.w_mean[m] = self.w_cov[m] @ pulled
