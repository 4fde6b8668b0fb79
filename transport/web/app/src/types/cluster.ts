export interface ClusterStatus {
  cluster_id: string; // '' for a server of one node
  node_id: string; // who answers
  nodes: ClusterNode[];
  partitions: ClusterPartition[];
}

export interface ClusterNode {
  node_id: string;
  address: string;
  state: 'alive' | 'suspect' | 'dead' | 'left';
  leaving: boolean;
  disk_full?: true;
  clock_offset_ms?: number;
  version?: string;
  backup_at?: string; // of the newest that was made through it
  leads: number;
}

export interface ClusterPartition {
  partition: number;
  leader: string; // '' for none
  replicas: ClusterReplica[];
  differ?: string[];
}

export interface ClusterReplica {
  node_id: string;
  lag: number;
  log_lost?: true;
  scrub?: { damages: number };
}
