"""Language models behind one method, `Client.complete`, and what is wrapped around it."""
