"""Algorithm 1 of the paper, letter by letter: loops over components, frequencies and pairs.

Nothing is shared with the library. All is of one sign: ``K`` is the part's matrix.
"""

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
        total = 0.0
        for m in range(self.M):
            for k in range(self.T):
                total += (self.q[m, k] - before[m, k]) ** 2
        return np.sqrt(total)

    def update_beta(self, k):
        if k == self.T - 1:
            return  # q(beta_T = 1) = 1
        self.a[k], self.b[k] = 1.0, self.alpha0
        for m in range(self.M):
            self.a[k] += self.q[m, k]
            for t in range(k + 1, self.T):
                self.b[k] += self.q[m, t]

    def update_mu(self, k):
        expected = self.nu[k] * self.W[k]
        precision, pulled = self.R0.copy(), self.R0 @ self.m0
        for m in range(self.M):
            precision = precision + self.q[m, k] * expected
            pulled = pulled + self.q[m, k] * (expected @ self.w_mean[m])
        self.R[k] = precision
        self.m[k] = np.linalg.inv(precision) @ pulled

    def update_lambda(self, k):
        inverse, nu = np.linalg.inv(self.W0), self.nu0
        for m in range(self.M):
            inverse = inverse + self.q[m, k] * self.expected_outer(m, k)
            nu += self.q[m, k]
        self.W[k] = np.linalg.inv(inverse)
        self.nu[k] = nu

    def expected_outer(self, m, k):
        """Return E (w_m - mu_k)(w_m - mu_k)^T under q."""
        outer = np.empty((self.d, self.d))
        noise = np.linalg.inv(self.R[k])
        for i in range(self.d):
            for j in range(self.d):
                product = (self.w_mean[m, i] - self.m[k, i]) * (self.w_mean[m, j] - self.m[k, j])
                outer[i, j] = product + self.w_cov[m, i, j] + noise[i, j]
        return outer

    def update_z(self, m):
        h = np.empty(self.T)
        for k in range(self.T):
            h[k] = self.log_h(m, k)
        h = np.exp(h - max(h))
        for k in range(self.T):
            self.q[m, k] = h[k] / sum(h)

    def log_h(self, m, k):
        log_det = self.d * np.log(2.0) + np.log(np.linalg.det(self.W[k]))
        for i in range(1, self.d + 1):
            log_det += digamma((self.nu[k] + 1 - i) / 2.0)
        xi, outer = 0.0, self.expected_outer(m, k)
        for i in range(self.d):
            for j in range(self.d):
                xi += self.nu[k] * self.W[k, i, j] * outer[j, i]
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
        for i in range(len(self.x)):
            for j in range(len(self.x)):
                if i == j:
                    continue
                delta = self.x[i] - self.x[j]
                weight = max(1.0 - self.K[i, j], 0.0)  # or S need not be a precision
                S = S + weight * np.outer(delta, delta) / (2.0 * self.sigma**2)
        self.w_cov[m] = np.linalg.inv(S)
        self.w_mean[m] = self.w_cov[m] @ pulled
