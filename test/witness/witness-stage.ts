import { openMainLines } from '../../src/command/log-lines/log-lines.ts'
import { type ServedWitness, startWitness } from '../../src/witness/command/served-witness.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import type { TrustedLog } from '../../src/tlog/checkpoint.ts'
import { manualContext } from '../stage/manual-node.ts'
import type { CosignerKey } from '../../src/log/tree/cosigner-key.ts'
import { WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'

const STAGED = { name: WITNESS_NAME, keys: WITNESS_KEYS }

/** Serves a witness in this process, on free local ports, by default with the name and the keys of the stage. */
export async function startStagedWitness(
  data: string,
  logs: readonly TrustedLog[],
  now: () => Ms,
  { name, keys }: Readonly<{ name: string; keys: readonly CosignerKey[] }> = STAGED,
): Promise<ServedWitness> {
  const context = manualContext(now)
  const host = '127.0.0.1'
  return await startWitness(
    {
      data,
      name,
      logs,
      keyFile: undefined,
      host,
      port: 0,
      opsHost: host,
      opsPort: 0,
      growthPerMinute: 60,
      acceptCopy: false,
    },
    keys,
    context,
    openMainLines(context),
  )
}
