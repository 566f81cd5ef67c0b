import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { MAIN, SAMPLE } from '../../../test/stage/places.ts'
import { type Service, startService } from '../../../test/stage/service.ts'

/** Device that behaves like a full disk. */
const FULL = '/dev/full'
/** Time after which a command counts as hanging. */
const END_MS_MAX = 60_000

let service: Service
before(async () => {
  service = await startService({ drafts: SAMPLE })
})
after(() => service[Symbol.asyncDispose]())

/** Runs a command in a shell, which may redirect its output. */
function shell(words: string): Readonly<{ status: number | null; stdout: string; stderr: string }> {
  const line = `"$NODE" "$MAIN" ${words}`
  const env = { ...process.env, NODE: process.execPath, MAIN, URL: service.url }
  return spawnSync('sh', ['-c', line], { encoding: 'utf8', env, timeout: END_MS_MAX })
}

suite('a full disk under standard output', { skip: skipUnless(existsSync(FULL), FULL) }, () => {
  const table = [
    'get status "$URL"',
    'tail "$URL" --after 7',
    'export "$URL" --format csv --from 2026-08',
    'verify --help',
  ]
  for (const words of table) {
    test(`ends the command with 1 and an error without a stack: ${words}`, () => {
      const { status, stderr } = shell(`${words} > ${FULL}`)
      assert.equal(status, 1, stderr)
      assert.match(stderr, /^daybook: standard output cannot be written: no space left on device$/m)
      assert.doesNotMatch(stderr, /    at |ENOSPC/)
      // The cursor does not pass events that could not be written.
      if (words.startsWith('tail')) assert.match(stderr, /^resume: .* --after 7$/m)
    })
  }

  test('under standard error changes nothing', () => {
    const answered = shell(`get status "$URL" 2> ${FULL}`)
    assert.equal(answered.status, 0)
    assert.match(answered.stdout, /^\{"asOf"/)
    assert.equal(shell(`get contest "$URL" 999999 2> ${FULL}`).status, 1)
  })
})
