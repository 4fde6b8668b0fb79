# One worker with one Durable Object class, stored in SQLite files on local
# disk, reachable over HTTP on a free loopback port.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .room),
    # The path is given on the command line: --directory-path=disk=DIR
    (name = "disk", disk = (writable = true)),
  ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);

const room :Workerd.Worker = (
  modules = [ (name = "room.js", esModule = embed "room.js") ],
  compatibilityDate = "2026-11-01",
  durableObjectNamespaces = [ (className = "Room", uniqueKey = "ubl-bench-room", enableSql = true) ],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [ (name = "ROOM", durableObjectNamespace = "Room") ],
);
