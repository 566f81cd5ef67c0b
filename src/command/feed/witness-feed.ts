import { Counter, Gauge, type Registry } from 'prom-client'
import type { LogReader } from '../../log/store/reader.ts'
import { forgetWitnessed } from '../../log/witnessed/witnessed-file.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { feedWitnesses } from '../../witness/feed/feeder.ts'
import {
  FEED_PACE,
  type FeedChoice,
  type FeedListener,
  type FeedPace,
  WITNESS_REFUSALS,
} from '../../witness/feed/feed-settings.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { World } from '../terminal/world.ts'

type FeedTools = Readonly<{ world: World; lines: LogLines; registry: Registry }>

/** Settings of the feeder; null when the log has no witnesses. */
export type FeedSettings = Readonly<{ data: string; choice: FeedChoice | null; pace?: FeedPace | undefined }>

/** Starts the feeder, which asks the witnesses of the log from now on. Without witnesses those of an earlier run are forgotten. */
export function startFeed(
  { data, choice, pace = FEED_PACE }: FeedSettings,
  reader: Pick<LogReader, 'identity' | 'head' | 'snapshot'>,
  { world, lines, registry }: FeedTools,
): AsyncDisposable {
  if (choice === null) {
    forgetWitnessed(data)
    return { [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  const stop = new AbortController()
  const listener = openListener(choice, lines, registry)
  const around = { now: world.now, monotonicMs: world.monotonicMs }
  const feeding = feedWitnesses({ dataDirectory: data, reader, choice, pace, around, listener }, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await feeding
    },
  }
}

/** Counts what the feeder reports, and writes a log line when the state of a witness changes. */
function openListener({ witnesses }: FeedChoice, lines: LogLines, registry: Registry): FeedListener {
  const metrics = openFeedMetrics(registry)
  const said = new Map<string, string>()
  const isNews = (witness: string, state: string): boolean => {
    const isNew = said.get(witness) !== state
    said.set(witness, state)
    return isNew
  }
  for (const { key } of witnesses) {
    metrics.cosigned.set({ witness: key.name }, 0)
    for (const reason of WITNESS_REFUSALS) metrics.refused.inc({ witness: key.name, reason }, 0)
  }
  let fault = ''
  return {
    onCosigned(witness, seq, atMs) {
      metrics.cosigned.set({ witness }, atMs / 1_000)
      if (isNews(witness, '')) lines.say('witness-cosigns', { witness, last: seq })
    },
    onRefused(witness, reason) {
      metrics.refused.inc({ witness, reason })
      if (!isNews(witness, reason)) return
      const isGrave = reason === 'disagrees' || reason === 'ahead' || reason === 'went-back'
      lines.say(isGrave ? 'witness-disagrees' : 'witness-refuses', { witness, fault: reason })
    },
    onWitnessed(seq, atMs) {
      metrics.seq.set(seq)
      metrics.time.set(atMs / 1_000)
      fault = ''
      lines.say('witnessed', { last: seq })
    },
    onFault(error) {
      const reason = reasonOf(error)
      if (reason !== fault) lines.say('feed-failed', { reason })
      fault = reason
    },
  }
}

function openFeedMetrics(registry: Registry) {
  const registers = [registry]
  return {
    seq: new Gauge({
      name: 'daybook_witnessed_seq',
      help: 'Last event of the newest checkpoint with a quorum of cosignatures',
      registers,
    }),
    time: new Gauge({
      name: 'daybook_witnessed_timestamp_seconds',
      help: 'Time as of which a quorum of witnesses vouches for it; 0 before the first',
      registers,
    }),
    cosigned: new Gauge({
      name: 'daybook_witness_cosigned_timestamp_seconds',
      help: 'Time of the newest cosignature of a witness; 0 before the first since the start',
      labelNames: ['witness'],
      registers,
    }),
    refused: new Counter({
      name: 'daybook_witness_refusals_total',
      help: 'Questions that a witness did not answer with a cosignature',
      labelNames: ['witness', 'reason'],
      registers,
    }),
  }
}
