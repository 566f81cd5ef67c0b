import { run } from '../../stage/command-stage.ts'
import type { Cluster } from './cluster.ts'
import type { AuditFault } from './history.ts'

const OUTPUT_CHARACTERS_MAX = 2_000

/** Runs a command that audits a node or its store. Returns its output when it fails. */
export async function audit(
  node: string,
  kind: 'verify' | 'check',
  rest: readonly string[],
): Promise<AuditFault[]> {
  const { code, stdout, stderr } = await run([kind, ...rest])
  if (code === 0) return []
  return [{ node, audit: kind, output: `${stdout}${stderr}`.slice(-OUTPUT_CHARACTERS_MAX) }]
}

/** Last output of each node, for the message of a failure. */
export function saidBy({ nodes }: Cluster): string {
  return nodes.map(({ name, said }) => `${name}:\n${said().slice(-OUTPUT_CHARACTERS_MAX)}`).join('\n')
}
