import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { blocksOf, textOf } from '../stage/document.ts'
import { startService } from '../stage/service.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'

const SAMPLE_EVENTS = 2_187

type Line = Readonly<{ type: string; at: string; seq: number; kots: string | null }>
type Noted = Readonly<{ title?: string; price?: string }>
type Totals = Readonly<{ paidInPrizes: string }>

suite('the example of README in code', () => {
  test('sums the payments exactly, and follows the log to its head', async () => {
    const [example, ...others] = blocksOf(textOf('README.md')).filter(({ language }) => language === 'ts')
    assert.ok(example !== undefined && others.length === 0, 'there is one')
    await using service = await startService({ drafts: SAMPLE })
    const folder = await mkdtemp(join(tmpdir(), 'daybook-example-'))
    try {
      const path = join(folder, 'example.ts')
      const client = pathToFileURL(join(ROOT, 'src', 'client', 'index.ts')).href
      const text = example.text.replace('http://127.0.0.1:8080', service.url)
      const sums = pathToFileURL(join(ROOT, 'src', 'client', 'event-sums.ts')).href
      await writeFile(
        path,
        text.replace('./src/client/index.ts', client).replace('./src/client/event-sums.ts', sums),
      )
      const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] })
      const said: string[] = []
      for await (const line of createInterface({ input: child.stdout })) {
        said.push(line)
        if (line.startsWith(`${SAMPLE_EVENTS} `)) break
      }
      child.kill()
      const answer = await fetch(`${service.url}/api/v1/events?limit=10000&details=1`)
      const { events, details } = (await answer.json()) as { events: Line[]; details: Record<string, Noted> }
      const { paidInPrizes } = (await (await fetch(`${service.url}/api/v1/summary`)).json()) as Totals
      const since = events.filter(({ at }) => at >= '2026-08')
      assert.deepEqual(said, [
        paidInPrizes,
        paidInPrizes,
        ...since.map(({ seq, type, kots }) => {
          const { title, price } = details[seq] ?? {}
          return `${seq} ${type} ${kots ?? title ?? price}`
        }),
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
