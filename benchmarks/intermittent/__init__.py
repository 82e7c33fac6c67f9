"""Series of counts that are mostly zero, next to methods for intermittent demand."""
