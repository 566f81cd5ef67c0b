import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '../stage/test-needs.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'
import { startNginx } from './nginx.ts'

const LIMIT = 3
const run = promisify(execFile)
const blocks = blocksOf(textOf('docs/operating.md'))

suite('the nginx configuration of docs/operating.md', { skip: skipWithout('nginx') }, () => {
  let service: Service
  let nginx: Awaited<ReturnType<typeof startNginx>>
  before(async () => {
    const options = ['--trust-proxy', '127.0.0.1/32', '--rate-limit', String(LIMIT), '--page-cache', '2']
    service = await startService({ drafts: SAMPLE, options })
    nginx = await startNginx(service.url)
  })
  after(async () => {
    await nginx?.[Symbol.asyncDispose]()
    await service?.[Symbol.asyncDispose]()
  })

  const head = async (path: string, from: string): Promise<string> => {
    const words = ['-sk', '-D', '-', '-o', '/dev/null', '-H', `X-Forwarded-For: ${from}`, nginx.url + path]
    return (await run('curl', words)).stdout
  }

  for (const path of ['/api/v1/stream', '/live']) {
    test(`passes on ${path} without buffering`, async () => {
      const words = ['-skN', '-H', 'Accept: application/x-ndjson', `${nginx.url}${path}`]
      const child = spawn('curl', words, { stdio: ['ignore', 'pipe', 'ignore'] })
      // The stream stays open, so buffered bytes would never arrive.
      const [first] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) })
      assert.match(String(first), /^\{"position"/)
      child.kill()
      await once(child, 'close')
    })
  }

  test('caches immutable answers', async () => {
    assert.match(await head('/api/v1/events/1', '203.0.113.1'), /^x-cache: MISS/im)
    assert.match(await head('/api/v1/events/1', '203.0.113.2'), /^x-cache: HIT/im)
  })

  test('asks for a popular page once in two seconds, with --page-cache 2', async () => {
    const asked = async (): Promise<number> => {
      const metrics = await (await fetch(`${service.door}/metrics`)).text()
      const counts = metrics.matchAll(/^daybook_http_requests_total\{[^}]*route="\/payouts"[^}]*\} (\d+)/gm)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    const crowd = async (): Promise<readonly string[]> => {
      const words = ['-skZ', '--compressed', '-w', '%{http_code} %header{x-cache}\\n', '-o', '/dev/null']
      const { stdout } = await run('curl', [...words, `${nginx.url}/payouts#[1-100]`])
      return stdout.trim().split('\n')
    }
    const began = performance.now()
    let crowds = 0
    while (performance.now() - began < 5_000) {
      const lines = await crowd()
      assert.equal(lines.length, 100)
      for (const line of lines) assert.match(line, /^200 (?:MISS|HIT|EXPIRED|STALE|UPDATING)$/)
      crowds++
    }
    const seconds = (performance.now() - began) / 1_000
    const made = await asked()
    assert.ok(made >= 2 && made <= 2 + seconds / 2, `${made} requests in ${seconds} s for ${crowds} crowds`)
  })

  test('forwards the address of each caller, so that each has its own allowance', async () => {
    const asked: string[] = []
    for (let number = 0; number <= LIMIT; number++) asked.push(await head('/api/v1/summary', '203.0.113.3'))
    assert.match(asked[0] ?? '', /^HTTP\/2 200/)
    assert.match(asked.at(-1) ?? '', /^HTTP\/2 429/)
    assert.match(await head('/api/v1/summary', '203.0.113.4'), /^HTTP\/2 200/)
  })
})

suite('the units of docs/operating.md', () => {
  test('are valid for systemd', { skip: skipWithout('systemd-analyze') }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-units-'))
    try {
      const names = ['daybook.service', 'daybook-backup.service', 'daybook-backup.timer']
      const units = blocks.filter(({ language }) => language === 'ini')
      assert.equal(units.length, names.length)
      const files = names.map((name) => join(folder, name))
      for (const [index, file] of files.entries()) await writeFile(file, `${units[index]?.text}\n`)
      const { stderr } = await run('systemd-analyze', ['verify', ...files])
      assert.doesNotMatch(stderr, /daybook/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
