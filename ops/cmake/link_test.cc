// Linked with one whole module and only its declared dependencies: a symbol of an undeclared module
// stays unresolved, and the build fails. Running it proves nothing more.
int main() { return 0; }
