"""The paper's tables and figures, drawn from recorded runs of any players."""
