import { type Command, InvalidArgumentError } from 'commander'
import { sha256 } from '../../log/tree/signer.ts'
import type { TrustedLog } from '../../tlog/checkpoint.ts'
import { COSIGNED_NAME_BYTES_MAX } from '../../tlog/cosignature.ts'
import { LOG_KEYS_MAX, WITNESSED_LOGS_MAX } from '../cosigner/cosigner.ts'
import { GROWTH_PER_MINUTE_MIN } from '../cosigner/growth-rate.ts'
import { beginLines, LINE_OPTIONS, type LineOptions, sayStart } from '../../command/log-lines/start-lines.ts'
import type { CommandSpec, ProgramContext } from '../../command/plug/option.ts'
import { directoryOption, portNumber } from '../../command/operator/log-options.ts'
import { makeFolder } from '../../command/terminal/option-paths.ts'
import { keyFiles, option, optionOf, originName, wholeBetween } from '../../command/terminal/options.ts'
import { refuseOtherOwner } from '../../command/terminal/log-directory.ts'
import { formatVkey, parseVkey, type VerifierKey } from '../../tlog/note.ts'

type WitnessOptions = LineOptions &
  Readonly<{
    data: string
    name: string
    log: readonly TrustedLog[]
    keyFile?: readonly string[]
    host: string
    port: number
    opsHost: string
    opsPort: number
    logRate: number
    acceptCopy?: true
  }>

const own = optionOf('witness')

/** Command `daybook witness` with its options. */
export function witnessCommand({ context, lines }: ProgramContext): CommandSpec {
  return {
    name: 'witness',
    description: 'cosign the checkpoints of other logs, as far as each continues the former one',
    options: [
      directoryOption(),
      own('--name <name>', 'name of the witness in its cosignatures, for ever: witness.example.org; required')
        .argParser(originName)
        .makeOptionMandatory(),
      own('--log <vkey>', 'verifier key of a log to cosign; may be repeated; required')
        .argParser(addLogs)
        .makeOptionMandatory(),
      own(
        '--key-file <file>',
        'key that cosigns, of Ed25519 or ML-DSA-44; once for each (default: <dir>.key and <dir>.ml-dsa.key, made at the first start)',
      ).argParser(addKeyFiles),
      option('--host <address>', 'address of the public listener').default('127.0.0.1'),
      option('--port <n>', 'port of the public listener').argParser(portNumber).default(8090),
      option('--ops-host <address>', 'address of the private listener').default('127.0.0.1'),
      option('--ops-port <n>', 'port of the private listener').argParser(portNumber).default(8091),
      own('--log-rate <n>', 'most new sizes of one log in a minute')
        .argParser(wholeBetween(GROWTH_PER_MINUTE_MIN, 6_000))
        .default(60),
      own(
        '--accept-copy',
        'for one start: this state was moved, it is the newest one, and nothing else cosigns with its keys any more',
      ),
      ...LINE_OPTIONS,
    ],
    async run(options: WitnessOptions, self: Command) {
      const ownContext = beginLines(options, { context, lines })
      refuseOtherOwner(options.data, ownContext)
      makeFolder(options.data, '--data', 0o700)
      sayStart(lines, self)
      const { runWitness } = await import('./served-witness.ts')
      const { log, keyFile, logRate, acceptCopy, ...rest } = options
      const settings = {
        ...rest,
        logs: log,
        keyFile,
        growthPerMinute: logRate,
        acceptCopy: acceptCopy === true,
      }
      return await runWitness(settings, ownContext, lines)
    },
  }
}

/**
 * Adds the logs of verifier keys to those of earlier options. An environment variable has several, separated by spaces.
 */
function addLogs(text: string, earlier: readonly TrustedLog[] = []): readonly TrustedLog[] {
  const logs = new Map(earlier.map((log) => [log.origin, log]))
  for (const written of text.trim().split(/\s+/)) {
    const key = parseVkey(sha256, written)
    if (key === undefined || key.type !== 'ed25519')
      throw new InvalidArgumentError('give the verifier key of a log, such as /api/v1/log/keys lists it')
    if (Buffer.byteLength(key.name) > COSIGNED_NAME_BYTES_MAX)
      throw new InvalidArgumentError(`the origin of a log has at most ${COSIGNED_NAME_BYTES_MAX} bytes`)
    const keys = withKey(logs.get(key.name)?.keys ?? [], key)
    if (keys.length > LOG_KEYS_MAX) throw new InvalidArgumentError(`a log has at most ${LOG_KEYS_MAX} keys`)
    logs.set(key.name, { origin: key.name, keys })
  }
  if (logs.size > WITNESSED_LOGS_MAX)
    throw new InvalidArgumentError(`a witness cosigns at most ${WITNESSED_LOGS_MAX} logs`)
  return [...logs.values()]
}

function withKey(keys: readonly VerifierKey[], key: VerifierKey): readonly VerifierKey[] {
  return keys.some((known) => formatVkey(known) === formatVkey(key)) ? keys : [...keys, key]
}

/** Adds the files of an option to those of earlier ones. */
export function addKeyFiles(paths: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, ...keyFiles(paths)]
}
