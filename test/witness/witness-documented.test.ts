import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  CLOCK_BEHIND_SECONDS_MAX,
  CONTRADICTIONS_MAX,
  LOG_KEYS_MAX,
  REFRESH_SECONDS,
  WITNESSED_LOGS_MAX,
} from '../../src/witness/cosigner/cosigner.ts'
import { OWN_LINES_MAX } from '../../src/witness/cosigner/cosigner-keys.ts'
import { GROWTH_PER_MINUTE_MIN, GROWTH_WAIT_MS_MAX } from '../../src/witness/cosigner/growth-rate.ts'
import { PROOF_LINES_MAX, SUBMISSION_BYTES_MAX } from '../../src/witness/cosigner/submission.ts'
import {
  WITNESS_CONNECTIONS_MAX,
  WITNESS_HEADER_BYTES_MAX,
  WITNESS_HEADERS_MS,
  WITNESS_IDLE_MS,
  WITNESS_REQUEST_MS,
} from '../../src/witness/cosigner/witness-listener.ts'
import { FEED_PACE, WITNESS_REFUSALS } from '../../src/witness/feed/feed-settings.ts'
import { AHEAD_SECONDS_MAX, WITNESSES_MAX } from '../../src/tlog/quorum.ts'
import {
  FEED_ANSWER_BYTES_MAX,
  FEED_ANSWER_MS,
  FEED_RETRY_AFTER_MS_MAX,
} from '../../src/witness/feed/post-checkpoint.ts'
import { textOf } from '../stage/document.ts'
import { FEED_FAILED_MS_MAX } from '../../src/witness/feed/feeder.ts'

suite('the documents of a witness', () => {
  test('name the limits of the code', () => {
    const text = textOf('docs/limits.md').replaceAll('\n', ' ')
    for (const limit of [
      `requests of ${SUBMISSION_BYTES_MAX.toLocaleString('en')} bytes and ${PROOF_LINES_MAX} proof lines`,
      `${WITNESS_HEADER_BYTES_MAX.toLocaleString('en')} bytes of headers, ${WITNESS_CONNECTIONS_MAX} connections`,
      `${WITNESSED_LOGS_MAX.toLocaleString('en')} logs with ${LOG_KEYS_MAX} keys each`,
      `${WITNESS_HEADERS_MS / 1_000} s for its headers and ${WITNESS_REQUEST_MS / 1_000} s for its request`,
      `an idle connection is kept for ${WITNESS_IDLE_MS / 1_000} s`,
      `the largest submitted tree waits ${GROWTH_WAIT_MS_MAX / 1_000} s at most`,
      `stored cosignatures again for ${REFRESH_SECONDS} s`,
      `${CONTRADICTIONS_MAX} contradictions are kept of each log`,
      `${OWN_LINES_MAX} lines under each key of the witness`,
      `\`--log-rate\`, ${GROWTH_PER_MINUTE_MIN} at least`,
    ]) {
      assert.ok(text.includes(limit), limit)
    }
    assert.ok(textOf('docs/witnesses.md').includes(`more than ${CLOCK_BEHIND_SECONDS_MAX} s behind`))
    const runbook = textOf('docs/runbook/WitnessFoundContradiction.md')
    assert.ok(runbook.includes(`At most ${CONTRADICTIONS_MAX} of each log are kept`))
  })
})

suite('the documents of a log with witnesses', () => {
  test('name the limits of the feeder', () => {
    const text = textOf('docs/limits.md').replaceAll('\n', ' ')
    assert.equal(FEED_RETRY_AFTER_MS_MAX, 3_600_000)
    for (const limit of [
      `\`serve --witness\` takes ${WITNESSES_MAX} keys`,
      `asked ${FEED_PACE.roundMs / 1_000} s after its last question, and after ${FEED_PACE.idleMs / 1_000} s when`,
      `It has ${FEED_ANSWER_MS / 1_000} s and ${FEED_ANSWER_BYTES_MAX / 1_024} KiB for an answer`,
      `up to ${FEED_FAILED_MS_MAX / 1_000} s; a \`Retry-After\` is obeyed for up to an hour`,
      `more than ${AHEAD_SECONDS_MAX} s ahead`,
    ]) {
      assert.ok(text.includes(limit), limit)
    }
  })

  test('have a row for each reason of a refusal', () => {
    const rows = [...textOf('docs/witnesses.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(rows, [...WITNESS_REFUSALS])
  })
})
