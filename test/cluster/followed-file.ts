import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../sim/random.ts'
import { run } from '../stage/command-stage.ts'
import type { Cluster } from './cluster.ts'
import type { SentDraft } from './history.ts'

const PUBLISHED_MS_MAX = 60_000
const POLL_MS = 50
/** Distinguishes its amounts from those of other publishers. */
const DECIMALS = '999999999'

/** A growing file that `daybook publish --follow FILE --to A,B,C` sends to the writers of a cluster. */
export type FollowedFile = Disposable &
  Readonly<{
    drafts: readonly SentDraft[]
    /** Stops the growth, and resolves when every line is published. */
    pause(): Promise<void>
    resume(): void
    /** Stops the command and asserts that it ends with code 0. */
    end(): Promise<void>
  }>

type Settings = Readonly<{
  cluster: Cluster
  folder: string
  seed: string
  /** Mean time between two lines. */
  paceMs: number
}>

export function openFollowedFile({ cluster, folder, seed, paceMs }: Settings): FollowedFile {
  const random = randomOf(`${seed} followed file`)
  const [file, tokenFile] = [join(folder, 'followed.jsonl'), join(folder, 'followed-token')]
  writeFileSync(file, '')
  writeFileSync(tokenFile, cluster.token)
  const doors = cluster.nodes.flatMap(({ door }) => door ?? [])
  const drafts: SentDraft[] = []
  const stop = new AbortController()
  const stderr = new PassThrough()
  let said = ''
  stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const cursor = ['--cursor', join(folder, 'followed-cursor')]
  const words = ['publish', '--follow', file, '--to', doors.join(','), '--token-file', tokenFile, ...cursor]
  const ended = run(words, { stop: stop.signal, stderr })

  let isGrowing = true
  const grow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await sleep(random.exponential(paceMs))
      if (!isGrowing || stop.signal.aborted) continue
      const number = drafts.length + 1
      const draft = {
        ref: `followed-${number}`,
        type: 'treasury',
        kind: 'deposit',
        kots: `${number}.${DECIMALS}`,
      }
      drafts.push(draft)
      appendFileSync(file, `${JSON.stringify(draft)}\n`)
    }
  }
  const growing = grow()

  const newest = async (): Promise<string | undefined> => {
    const url = cluster.nodes.find((node) => node.kind === 'writer')?.url()
    const answer = await fetch(`${url}/api/v1/events?type=treasury&order=desc&limit=1`)
    const { events } = (await answer.json()) as { events: readonly { kots: string }[] }
    return events[0]?.kots
  }
  return {
    drafts,
    async pause() {
      isGrowing = false
      const last = performance.now() + PUBLISHED_MS_MAX
      while ((await newest().catch(() => undefined)) !== drafts.at(-1)?.kots) {
        assert.ok(performance.now() < last, `the followed file is not published: ${said}`)
        await sleep(POLL_MS)
      }
    },
    resume: () => void (isGrowing = true),
    async end() {
      stop.abort()
      await growing
      const { code } = await ended
      assert.equal(code, 0, said)
    },
    [Symbol.dispose]: () => stop.abort(),
  }
}
