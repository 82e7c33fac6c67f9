"""Weighted sums of base models (*laws*: kernels and trees), scored by left-out rows."""
