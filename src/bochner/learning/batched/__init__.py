"""Chains side by side on a device: one program whose arrays have an axis of chains."""
