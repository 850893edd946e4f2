"""From a program to something that is called: graph/, emit/, native/, runtime/, in this order."""
