import { Counter, Gauge, type Registry } from 'prom-client'
import { option, wholeBetween } from '../../command/terminal/options.ts'
import { collectWitnesses, readWitnesses } from '../../command/terminal/witness-option.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import type { Cosigners, ServePart } from '../../command/plug/option.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { WITNESSES_MAX } from '../../tlog/quorum.ts'
import {
  FEED_PACE,
  type FeedChoice,
  type FeedListener,
  type FeedPace,
  WITNESS_REFUSALS,
} from '../feed/feed-settings.ts'
import { feedWitnesses } from '../feed/feeder.ts'

/** Part of `serve`: asks witnesses to cosign the log. */
export const SERVE_WITNESSED: ServePart = {
  options: [
    option('--witness <vkey=url>', 'verifier key and address of a witness; may be repeated')
      .argParser(collectWitnesses)
      .default([], 'none'),
    option(
      '--witness-quorum <n>',
      'witnesses that must cosign a checkpoint (default: more than half)',
    ).argParser(wholeBetween(1, WITNESSES_MAX)),
  ],
  cosigners(options: FeedOptions) {
    const choice = feedChoiceOf(options)
    return choice === null ? null : askedWitnesses(choice)
  },
}

type FeedOptions = Readonly<{ witness: readonly string[]; witnessQuorum?: number }>

/** Witnesses of the options; null without any. Throws a `CommandError` that names the mistake. */
function feedChoiceOf({ witness, witnessQuorum }: FeedOptions): FeedChoice | null {
  const choice = readWitnesses(witness, witnessQuorum, { quorum: '--witness-quorum', needsUrl: true })
  if (choice === null) return null
  const witnesses = choice.witnesses.flatMap(({ key, url }) => (url === null ? [] : [{ key, url }]))
  return { witnesses, quorum: choice.quorum }
}

/** Witnesses of a log, which are asked at a limited rate. */
export function askedWitnesses(choice: FeedChoice, pace: FeedPace = FEED_PACE): Cosigners {
  return {
    start({ data, reader, context: { now, monotonicMs }, lines, registry }) {
      const stop = new AbortController()
      const listener = openListener(choice, lines, registry)
      const settings = { dataDirectory: data, reader, choice, pace, around: { now, monotonicMs }, listener }
      const feeding = feedWitnesses(settings, stop.signal)
      return {
        async [Symbol.asyncDispose]() {
          stop.abort()
          await feeding
        },
      }
    },
  }
}

/** Counts the feeder's reports, and writes a log line when the state of a witness changes. */
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
