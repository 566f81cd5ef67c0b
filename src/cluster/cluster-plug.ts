import { type Option, lazy } from '../command/plug/option.ts'

/**
 * The option that keeps a log on several nodes: one leads under a lock of the operator's PostgreSQL, whose table carries
 * the log, and the others follow it. To read: `node/open-node.ts` for the machine, `log/cluster-log.ts` for its place in
 * the service.
 */
export const CLUSTER: Option = {
  commands: [
    lazy('operators', 'cluster', async ({ context, done }) =>
      (await import('./command/cluster-program.ts')).clusterCommand(context, done),
    ),
  ],
  serve: async () => (await import('./command/table-options.ts')).SERVE_ON_TABLE,
}
