"""What a deployment says, as the values that rules of the scope `deployment` read, and as a case."""
