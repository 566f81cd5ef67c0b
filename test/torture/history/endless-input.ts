import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../../sim/random.ts'
import { openPublishAccess } from '../../../src/command/publish/publish-client.ts'
import { publishInput } from '../../../src/command/publish/publish-input.ts'
import { contextOf } from '../../stage/command-stage.ts'
import type { Cluster } from './cluster.ts'
import type { SentDraft } from './history.ts'

const PUBLISHED_MS_MAX = 60_000
const POLL_MS = 50
/** Distinguishes its amounts from those of other publishers. */
const DECIMALS = '999999999'

/** An input without end that `daybook publish - --to A,B,C` sends to the writers of a cluster. */
export type EndlessInput = Disposable &
  Readonly<{
    drafts: readonly SentDraft[]
    /** Stops the growth, and resolves when every line is published. */
    pause(): Promise<void>
    resume(): void
    /** Ends the input and asserts that the command ends with code 0. */
    end(): Promise<void>
  }>

type Settings = Readonly<{
  cluster: Cluster
  folder: string
  seed: string
  /** Mean time between two lines. */
  paceMs: number
}>

export function openEndlessInput({ cluster, folder, seed, paceMs }: Settings): EndlessInput {
  const random = randomOf(`${seed} endless input`)
  const tokenFile = join(folder, 'input-token')
  writeFileSync(tokenFile, cluster.token)
  const publishUrls = cluster.nodes.flatMap(({ publishUrl }) => publishUrl ?? [])
  const drafts: SentDraft[] = []
  const stop = new AbortController()
  const stderr = new PassThrough()
  let said = ''
  stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const input = new PassThrough()
  const context = contextOf({ stderr, stop: stop.signal })
  const ended = publishInput(
    input,
    'standard input',
    openPublishAccess(publishUrls.join(','), tokenFile, context),
    context,
  )
  // Awaited at the end, unless the campaign fails before.
  ended.catch(() => undefined)

  let isGrowing = true
  const over = new AbortController()
  const grow = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await sleep(random.exponential(paceMs))
      if (!isGrowing || over.signal.aborted) continue
      const number = drafts.length + 1
      const draft = {
        ref: `input-${number}`,
        type: 'treasury',
        kind: 'deposit',
        kots: `${number}.${DECIMALS}`,
      }
      drafts.push(draft)
      input.write(`${JSON.stringify(draft)}\n`)
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
        assert.ok(performance.now() < last, `the endless input is not published: ${said}`)
        await sleep(POLL_MS)
      }
    },
    resume: () => void (isGrowing = true),
    async end() {
      over.abort()
      await growing
      input.end()
      assert.equal(await ended, 0, said)
    },
    [Symbol.dispose]() {
      over.abort()
      stop.abort()
    },
  }
}
