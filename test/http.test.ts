import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Captures } from './http-script.ts'
import { ask, check, parseScript } from './http-script.ts'
import type { Service } from './service.ts'
import { startService } from './service.ts'

const FOLDER = join(import.meta.dirname, 'http')
const SAMPLE = join(import.meta.dirname, 'sample', 'sample.drafts.jsonl')
/** The scripts hold for any Daybook; by default they run against one that serves the sample. */
const ELSEWHERE = process.env['HTTP_SCRIPT_URL']

suite('the public contract', () => {
  let service: Service | undefined
  before(async () => {
    if (ELSEWHERE === undefined) service = await startService({ drafts: SAMPLE })
  })
  after(async () => service?.[Symbol.asyncDispose]())

  for (const file of readdirSync(FOLDER).toSorted()) {
    suite(file.replace('.txt', ''), () => {
      const captures: Captures = new Map()
      for (const step of parseScript(readFileSync(join(FOLDER, file), 'utf8'))) {
        test(step.name, async () => {
          const answer = await ask(ELSEWHERE ?? service?.url ?? '', step, captures)
          for (const line of step.checks) check(line, answer, captures)
        })
      }
    })
  }
})
