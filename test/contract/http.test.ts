import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { assertDescribed } from '../stage/described.ts'
import { type Answer, ask, type Captures, check, parseScript } from './http-script.ts'
import { sharedSample } from '../sample/imported-node.ts'

const FOLDER = join(import.meta.dirname, 'http')
/** The scripts apply to any Daybook. By default they run against one that serves the sample. */
const ELSEWHERE = process.env['HTTP_SCRIPT_URL']

suite('the public contract', () => {
  let base = ELSEWHERE ?? ''
  before(async () => {
    if (ELSEWHERE === undefined) base = (await sharedSample()).url
  })

  for (const file of readdirSync(FOLDER).toSorted()) {
    suite(file.replace('.txt', ''), () => {
      const captures: Captures = new Map()
      for (const step of parseScript(readFileSync(join(FOLDER, file), 'utf8'))) {
        test(step.name, async () => {
          const answer = await ask(base, step, captures)
          if (ELSEWHERE === undefined) assertAnswer(step.method, answer)
          for (const line of step.checks) check(line, answer, captures)
        })
      }
    })
  }
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
