import { join, resolve } from 'node:path'
import type { MirrorPart, MirrorWitness } from '../../command/plug/option.ts'
import { demandFreePort } from '../../command/service/taken-port.ts'
import { hostInUrl } from '../../command/terminal/log-address.ts'
import { makeFolder } from '../../command/terminal/option-paths.ts'
import { optionOf, originName } from '../../command/terminal/options.ts'
import { type CommandContext, takeDirectory } from '../../command/terminal/command-context.ts'
import { UsageError } from '../../command/terminal/command-error.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { openCosigning } from './open-cosigning.ts'
import { readWitnessKeys } from './witness-keys.ts'
import { portNumber } from '../../command/operator/log-options.ts'
import { addKeyFiles } from './witness-command.ts'

/** Most new sizes in a minute. A log asks every 10 s. */
const GROWTH_PER_MINUTE = 60

type MirrorWitnessOptions = Readonly<{
  witnessName?: string
  witnessKeyFile?: readonly string[]
  witnessHost: string
  witnessPort: number
  acceptCopy?: true
}>

const own = optionOf('mirror')

/** The part of `mirror`: the mirror cosigns the log as a witness. */
export const COSIGNING_MIRROR: MirrorPart = {
  options: [
    own(
      '--witness-name <name>',
      'cosign the log as a witness of this name, for ever: mirror.example.org/w1',
    ).argParser(originName),
    own(
      '--witness-key-file <file>',
      'key that cosigns, of Ed25519 or ML-DSA-44; once for each (default: <dir>.witness.key and <dir>.witness.ml-dsa.key, made at the first start)',
    ).argParser(addKeyFiles),
    own('--witness-host <address>', 'address of the listener of the witness').default('127.0.0.1'),
    own('--witness-port <n>', 'port of the listener of the witness').argParser(portNumber).default(8090),
    own(
      '--accept-copy',
      'for one start: the state of the witness was moved, it is the newest one, and nothing else cosigns with its keys any more',
    ),
  ],
  witness(options: MirrorWitnessOptions, data) {
    const { witnessName: name, witnessKeyFile: keyFile, witnessHost, witnessPort, acceptCopy } = options
    if (name === undefined) {
      if (keyFile !== undefined) throw new UsageError('--witness-key-file needs --witness-name')
      if (acceptCopy === true) throw new UsageError('--accept-copy needs --witness-name')
      return null
    }
    const settings = {
      data: join(data, 'witness'),
      name,
      host: witnessHost,
      port: witnessPort,
      acceptCopy: acceptCopy === true,
    }
    const keyBase = `${resolve(data)}.witness`
    const choice = { ...settings, keyBase, keyOption: '--witness-key-file', keyFile } as const
    return witnessOf(settings, (context) => readWitnessKeys(choice, context))
  },
}

type WitnessSettings = Readonly<{
  /** Directory of the state. */
  data: string
  name: string
  host: string
  port: number
  acceptCopy: boolean
}>

/** Witness of a mirror. Its keys are read when it is opened. */
export function witnessOf(
  settings: WitnessSettings,
  keysOf: (context: CommandContext) => readonly CosignerKey[],
): MirrorWitness {
  const { data, name, host, port } = settings
  return {
    async take() {
      makeFolder(data, '--data', 0o700)
      const lock = takeDirectory(data)
      await demandFreePort('--witness-port', host, port)
      return lock
    },
    open(log, { registry, lines, context }) {
      const beganMs = context.monotonicMs()
      const cosigning = openCosigning(
        {
          ...settings,
          keys: keysOf(context),
          logs: [log],
          guard: log.whyNot,
          portOption: '--witness-port',
          growthPerMinute: GROWTH_PER_MINUTE,
        },
        registry,
        context,
        lines,
      )
      return {
        async listen(operations) {
          const listener = await cosigning.listen()
          lines.say('witnessing', {
            of: name,
            url: `http://${hostInUrl(host)}:${listener.port}`,
            privateUrl: `http://${hostInUrl(operations.host)}:${operations.port}`,
            logs: 1,
            ms: Math.round(context.monotonicMs() - beganMs),
          })
          return listener
        },
        [Symbol.dispose]: () => cosigning[Symbol.dispose](),
      }
    },
  }
}
