import { openCrowdedReport } from '../../command/log-lines/node-lines.ts'
import { hasStore } from '../../log/store/store.ts'
import type { TrustedLog } from '../../tlog/checkpoint.ts'
import { ALIVE, notMade, type OperationsAnswer } from '../../publish/api/operations.ts'
import type { Cosigner } from '../cosigner/cosigner.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import { WITNESS_DRAIN_MS } from '../cosigner/witness-listener.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import { OPERATIONS_CONNECTIONS_MAX, startOperations } from '../../command/plug/operations-listener.ts'
import { runToEnd } from '../../command/operator/node-ending.ts'
import { orTaken } from '../../command/service/taken-port.ts'
import { type ExitCode, takeDirectory, type CommandContext } from '../../command/terminal/command-context.ts'
import { UsageError } from '../../command/terminal/command-error.ts'
import { openCosigning } from './open-cosigning.ts'
import { readWitnessKeys } from './witness-keys.ts'
import { openWitnessRegistry } from './witness-metrics.ts'
import { hostInUrl } from '../../command/terminal/log-address.ts'

/** Settings of `witness`, already checked. */
type WitnessSettings = Readonly<{
  data: string
  name: string
  logs: readonly TrustedLog[]
  keyFile: readonly string[] | undefined
  host: string
  port: number
  opsHost: string
  opsPort: number
  growthPerMinute: number
  acceptCopy: boolean
}>

/** A witness that listens. */
export type ServedWitness = AsyncDisposable &
  Readonly<{ port: number; opsPort: number; broken: Promise<string> }>

/** Cosigns until a signal stops it. */
export async function runWitness(
  settings: WitnessSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<ExitCode> {
  const beganMs = context.monotonicMs()
  if (hasStore(settings.data))
    throw new UsageError('--data: the directory holds a log; a witness has a directory of its own')
  await using stack = new AsyncDisposableStack()
  stack.use(takeDirectory(settings.data))
  const choice = { ...settings, keyBase: settings.data, keyOption: '--key-file' } as const
  const keys = readWitnessKeys(choice, context)
  const witness = stack.use(await startWitness(settings, keys, context, lines))
  lines.say('witnessing', {
    of: settings.name,
    url: `http://${hostInUrl(settings.host)}:${witness.port}`,
    privateUrl: `http://${hostInUrl(settings.opsHost)}:${witness.opsPort}`,
    logs: settings.logs.length,
    ms: Math.round(context.monotonicMs() - beganMs),
  })
  // The lock ends with the node. If a stop is cut off, both last until the process ends.
  const owned = stack.move()
  const node = { broken: witness.broken, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  return await runToEnd(node, { context, lines, drainMs: WITNESS_DRAIN_MS })
}

/** Starts both listeners of a witness. The caller holds the lock of the directory. */
export async function startWitness(
  settings: WitnessSettings,
  keys: readonly CosignerKey[],
  context: Pick<CommandContext, 'now' | 'monotonicMs'>,
  lines: LogLines,
): Promise<ServedWitness> {
  await using stack = new AsyncDisposableStack()
  const registry = openWitnessRegistry()
  const parts = { ...settings, keys, guard: null, portOption: '--port' } as const
  const cosigning = stack.use(openCosigning(parts, registry, context, lines))
  let stopping = false
  const operations = await orTaken(
    '--ops-port',
    startOperations({
      host: settings.opsHost,
      port: settings.opsPort,
      async answer(path) {
        if (path === '/metrics') {
          return await readMetrics(() => registry.metrics(), registry.contentType, lines)
        }
        return path === '/livez' ? ALIVE : readiness(cosigning.cosigner, stopping)
      },
      following: null,
      onCrowded: openCrowdedReport('private', OPERATIONS_CONNECTIONS_MAX, { ...context, lines, registry }),
    }),
  )
  stack.use(operations)
  const listener = await cosigning.listen()
  stack.use(listener)
  stack.defer(() => {
    stopping = true
  })
  const owned = stack.move()
  return {
    port: listener.port,
    opsPort: operations.port,
    broken: new Promise(() => {}),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function readiness(cosigner: Cosigner, stopping: boolean): OperationsAnswer {
  let state = true
  try {
    cosigner.check()
  } catch {
    state = false
  }
  const ready = state && !stopping
  return {
    status: ready ? 200 : 503,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ ready, checks: { state, serving: !stopping } }),
  }
}

async function readMetrics(
  read: () => Promise<string>,
  contentType: string,
  lines: LogLines,
): Promise<OperationsAnswer> {
  try {
    return { status: 200, headers: { 'Content-Type': contentType }, body: await read() }
  } catch (error) {
    lines.say('metrics-failed', { err: error, thread: 'main' })
    return notMade('the metrics')
  }
}
