import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fetchDescribed, assertDescribed } from '../stage/described.ts'
import type { Answer, Captures } from './http-script.ts'
import { ask, check, parseScript } from './http-script.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'
import { cosignNewest } from '../story/witnesses.ts'

const FOLDER = join(import.meta.dirname, 'http')
/** The scripts apply to any Daybook. By default they run against one that serves the sample. */
const ELSEWHERE = process.env['HTTP_SCRIPT_URL']

suite('the public contract', () => {
  let service: Service | undefined
  before(async () => {
    if (ELSEWHERE !== undefined) return
    service = await startService({ drafts: SAMPLE })
    await cosignNewest(service)
  })
  after(async () => service?.[Symbol.asyncDispose]())

  for (const file of readdirSync(FOLDER).toSorted()) {
    suite(file.replace('.txt', ''), () => {
      const captures: Captures = new Map()
      for (const step of parseScript(readFileSync(join(FOLDER, file), 'utf8'))) {
        test(step.name, async () => {
          const answer = await ask(ELSEWHERE ?? service?.url ?? '', step, captures)
          if (ELSEWHERE === undefined) assertAnswer(step.method, answer)
          for (const line of step.checks) check(line, answer, captures)
        })
      }
    })
  }
})

suite('the allowance of one address', { skip: ELSEWHERE !== undefined }, () => {
  let service: Service | undefined
  before(async () => {
    service = await startService({ drafts: SAMPLE, options: [] })
  })
  after(async () => service?.[Symbol.asyncDispose]())

  test('is sixty requests in any minute, of any status; a refusal says when to retry', async () => {
    const base = service?.url ?? ''
    const targets = ['/api/v1/status', '/api/v1/nothing-here', '/api/v1/events?limit=0', '/api/v1/events/1']
    for (let asked = 0; asked < 60; asked += 1) {
      const answer = await fetchDescribed(`${base}${targets[asked % targets.length]}`)
      assert.notEqual(answer.status, 429, `request ${asked + 1}`)
      if (asked % targets.length === 0) {
        assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=60;w=60')
        assert.match(
          answer.headers.get('ratelimit') ?? '',
          new RegExp(`^"default";r=${59 - asked};t=\\d+$`, 'u'),
        )
      }
      // An immutable answer does not state the allowance, because caches repeat the answer to others.
      if (asked % targets.length === 3) assert.equal(answer.headers.get('ratelimit'), null)
      await answer.arrayBuffer()
    }
    const refused = await fetchDescribed(`${base}/api/v1/status`)
    const problem = (await refused.json()) as { code: string }
    assert.equal(refused.status, 429)
    assert.equal(problem.code, 'rate-limited')
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `Retry-After ${seconds}`)
  })

  test('does not count preflights or pages', async () => {
    const base = service?.url ?? ''
    assert.equal((await fetchDescribed(`${base}/api/v1/status`, { method: 'OPTIONS' })).status, 204)
    assert.notEqual((await fetchDescribed(`${base}/`)).status, 429)
  })

  test('of the tiles is separate', async () => {
    assert.notEqual((await fetchDescribed(`${service?.url}/api/v1/log/tile/0/000`)).status, 429)
  })
})

function assertAnswer(method: string, { target, code, headers, body }: Answer): void {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  // The text of a compressed answer is not checked, because this client does not decompress.
  const isPlain = headers['content-encoding'] === undefined
  assertDescribed({
    method,
    target,
    status: code,
    headers: new Headers(pairs),
    ...(isPlain ? { text: body.toString() } : {}),
  })
}
