import type { EngineConnection } from '../log-engine.ts'
import { EngineError } from '../log-engine.ts'
import { streamNames } from './commit-table.ts'
import type { DatabaseTarget } from './database-target.ts'
import { inspectPostgres } from './postgres-guards.ts'
import { postgresLog } from './postgres-log.ts'
import type { PrimaryMemory } from './primary-link.ts'
import { openPrimaryLink } from './primary-link.ts'

/** Bytes that can be told at once: a notification has 8,000 bytes at most, and carries them as base64. */
const TOLD_BYTES_MAX = 5_900
const ANSWER_MS = 2_000
/** Questions about the clock. The one with the shortest round trip counts. */
const CLOCK_QUESTIONS = 3

/** Settings of the engine. */
type PostgresOptions = Readonly<{
  /** Number of the stream: 1, and one higher after each `cluster roll`. */
  stream: number
  /** Whether a database without a standby is accepted. */
  isSingle: boolean
  /** Our clock, in ms since 1970, and one that never jumps. */
  nowMs: () => number
  monotonicMs: () => number
  /** The newest primary over restarts of a node; null for a command, which remembers none. */
  memory: PrimaryMemory | null
}>

/** Connects to PostgreSQL, and keeps the connection with the present primary. Returns before it is connected. */
export function openPostgresEngine(
  target: DatabaseTarget,
  { stream, isSingle, nowMs, monotonicMs, memory }: PostgresOptions,
): EngineConnection {
  const names = streamNames(stream)
  const changes: ((what: string) => void)[] = []
  const ears: ((bytes: Uint8Array) => void)[] = []
  const listeners = {
    onChange(what: string) {
      log.reset()
      for (const listener of changes) listener(what)
    },
    onNotification(channel: string, payload: string) {
      if (channel === names.grown) log.hear(Number(payload) || 0)
      else for (const listener of ears) listener(Buffer.from(payload, 'base64'))
    },
  }
  const link = openPrimaryLink(target, [names.grown, names.told], listeners, memory)
  const log = postgresLog({ link, names, isSingle, monotonicMs })
  return {
    log,
    tell(bytes) {
      if (bytes.length > TOLD_BYTES_MAX) return
      link
        .now()
        ?.ear.ask('SELECT pg_notify($1, $2)', [names.told, Buffer.from(bytes).toString('base64')], {
          answerMs: ANSWER_MS,
        })
        .catch(() => undefined)
    },
    onTold: (listener) => void ears.push(listener),
    onChange: (listener) => void changes.push(listener),
    async clockOffset() {
      const { ear } = await link.session(ANSWER_MS)
      let best = { offsetMs: 0, errorMs: Infinity }
      try {
        for (let question = 0; question < CLOCK_QUESTIONS; question += 1) {
          const [beganMs, begun] = [nowMs(), monotonicMs()]
          const [row] = await ear.ask(
            'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
            [],
            { answerMs: ANSWER_MS },
          )
          const errorMs = (monotonicMs() - begun) / 2
          if (errorMs < best.errorMs) best = { offsetMs: Number(row?.['ms']) - beganMs - errorMs, errorMs }
        }
      } catch (cause) {
        throw new EngineError('PostgreSQL does not tell its time', { cause })
      }
      return best
    },
    inspect: async () => inspectPostgres(await link.session(ANSWER_MS), names, isSingle),
    [Symbol.asyncDispose]: () => link[Symbol.asyncDispose](),
  }
}
