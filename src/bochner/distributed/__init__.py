"""Rows on the workers of a Dask cluster, or in the partitions of any Dask collection.

Estimators take Dask arrays and data frames in ``fit``: see :doc:`/guide/dask`.
"""
