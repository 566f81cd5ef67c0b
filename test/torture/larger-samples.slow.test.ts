import { execFile } from 'node:child_process'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../stage/places.ts'
import { openCampaign } from './campaign.ts'
import { LARGER_SAMPLES } from './larger-samples.ts'

const CAMPAIGN = openCampaign('larger-samples')
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2
const run = promisify(execFile)

suite(`quick tests with samples that are ${CAMPAIGN.size} times as large`, () => {
  let files = 0
  suite('pass', { concurrency: 2 }, () => {
    for (const [file, size] of Object.entries(LARGER_SAMPLES))
      test(file, async () => {
        // A test runner inside a test would report to the outer one.
        const { NODE_TEST_CONTEXT: _outer, ...own } = process.env
        const env = { ...own, DAYBOOK_CAMPAIGN: String(size * CAMPAIGN.size) }
        await run(process.execPath, ['--test', file], { cwd: ROOT, env, maxBuffer: OUTPUT_BYTES_MAX })
        files += 1
      })
  })

  test('have all run', (t) => {
    CAMPAIGN.finish(t, { files }, { files: Object.keys(LARGER_SAMPLES).length })
  })
})
