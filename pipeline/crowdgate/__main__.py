"""The command line as a module: `python -m crowdgate`."""

from importlib import import_module

if __name__ == "__main__":
    import_module("crowdgate_flows.command").main()  # by name: the library knows no scheduler
