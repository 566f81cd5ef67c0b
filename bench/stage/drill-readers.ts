import { setTimeout as sleep } from 'node:timers/promises'

type DrillSettings = Readonly<{ url: string; door: string; token: string; streams: number }>

/** Losses of the readers and the publisher of a drill. */
type DrillReport = Readonly<{
  head: number
  answered: number
  failed: number
  /** Longest time from an answer to the next one. */
  breakMs: number
  lost: number
  doubled: number
  published: number
  publishedLost: number
  publishedDoubled: number
  /** Longest time from the first attempt to publish a draft to its receipt. */
  publishMs: number
}>

type DrillReaders = Readonly<{
  /** Whether a request that began after this function was first called was answered. */
  isAnsweredSince(): boolean
  /** Stops publishing, waits until every stream has the newest event, and ends all. */
  end(): Promise<DrillReport>
}>

const ASK_MS = 50
const PUBLISH_MS = 1_000
const RETRY_MS = 100
const REQUEST_MS_MAX = 10_000

/** Opens streams that reconnect, a reader that asks twenty times a second, and a publisher of one draft a second. */
export async function openDrillReaders({ url, door, token, streams }: DrillSettings): Promise<DrillReaders> {
  const stop = new AbortController()
  const first = await headOf(url)
  const asked = { answered: 0, failed: 0, breakMs: 0, lastMs: performance.now(), sinceMs: Infinity }
  const published = { seqs: [] as number[], publishMs: 0, stopped: false }
  const seen = Array.from({ length: streams }, () => [] as number[])

  async function ask(): Promise<void> {
    while (!stop.signal.aborted) {
      const beganMs = performance.now()
      const isAnswered = await fetch(`${url}/api/v1/status`, {
        headers: { connection: 'close' },
        signal: limit(),
      })
        .then(async (answer) => (await answer.text()) !== '' && answer.status === 200)
        .catch(() => false)
      const nowMs = performance.now()
      if (isAnswered) {
        asked.answered += 1
        asked.breakMs = Math.max(asked.breakMs, nowMs - asked.lastMs)
        asked.lastMs = nowMs
        if (beganMs > asked.sinceMs) asked.sinceMs = -Infinity
      } else asked.failed += 1
      await sleep(ASK_MS)
    }
  }

  async function publish(): Promise<void> {
    for (let number = 1; !published.stopped; number += 1) {
      const beganMs = performance.now()
      const draft = { ref: `drill-${process.pid}-${number}`, type: 'trade', kind: 'buy', kots: '1' }
      for (;;) {
        const seq = await send(door, token, draft)
        if (seq !== undefined) {
          published.seqs.push(seq)
          break
        }
        await sleep(RETRY_MS)
      }
      published.publishMs = Math.max(published.publishMs, performance.now() - beganMs)
      await sleep(PUBLISH_MS)
    }
  }

  /** A stream of the address `number`: one address may have ten streams. */
  async function stream(seqs: number[], number: number): Promise<void> {
    const headers = { accept: 'application/x-ndjson', 'x-forwarded-for': `10.0.0.${number}` }
    while (!stop.signal.aborted) {
      const address = `${url}/api/v1/stream?after=${seqs.at(-1) ?? first}`
      await readStream(address, { headers, signal: stop.signal }, (seq) => seqs.push(seq)).catch(
        () => undefined,
      )
      if (!stop.signal.aborted) await sleep(RETRY_MS)
    }
  }

  const publishing = publish()
  const running = [ask(), ...seen.map(stream)]
  return {
    isAnsweredSince() {
      if (asked.sinceMs === Infinity) asked.sinceMs = performance.now()
      return asked.sinceMs === -Infinity
    },
    async end() {
      published.stopped = true
      await publishing
      const head = await headOf(url)
      const deadline = performance.now() + REQUEST_MS_MAX
      while (seen.some((seqs) => (seqs.at(-1) ?? first) < head) && performance.now() < deadline)
        await sleep(RETRY_MS)
      stop.abort()
      await Promise.all(running)
      const { lost, doubled } = gapsOf(seen, first, head)
      return {
        head,
        ...asked,
        lost,
        doubled,
        published: published.seqs.length,
        publishedLost: published.seqs.filter((seq) => seq <= first || seq > head).length,
        publishedDoubled: head - first - new Set(published.seqs).size,
        publishMs: published.publishMs,
      }
    },
  }
}

function gapsOf(seen: readonly (readonly number[])[], first: number, head: number) {
  let [lost, doubled] = [0, 0]
  for (const seqs of seen) {
    const known = new Set(seqs)
    lost += head - first - known.size
    doubled += seqs.length - known.size
  }
  return { lost, doubled }
}

function limit(): AbortSignal {
  return AbortSignal.timeout(REQUEST_MS_MAX)
}

async function headOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/status`)
  return ((await answer.json()) as Readonly<{ head: Readonly<{ seq: number }> }>).head.seq
}

/** Publishes a draft. Gives its seq; undefined when it must be sent again. */
async function send(door: string, token: string, draft: object): Promise<number | undefined> {
  const answer = await fetch(`${door}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify([draft]),
    signal: limit(),
  }).catch(() => undefined)
  if (answer?.status !== 200) return undefined
  const body = (await answer.json()) as Readonly<{ drafts: readonly Readonly<{ seq: number }>[] }>
  return body.drafts[0]?.seq
}

async function readStream(address: string, asks: RequestInit, onSeq: (seq: number) => void): Promise<void> {
  const answer = await fetch(address, asks)
  if (answer.status !== 200 || answer.body === null) return
  let rest = ''
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const seq = /^\{"seq":(\d+),/.exec(line)?.[1]
      if (seq !== undefined) onSeq(Number(seq))
    }
  }
}
