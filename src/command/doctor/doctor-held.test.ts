import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { heldDiagnosis } from './doctor-held.ts'

const MINUTE_MS = 60_000
const NOW = Date.UTC(2026, 9, 1)

suite('doctor says of held drafts', () => {
  const cases = [
    ['that none is held', 0, 0, null, 'ok', 'no draft is held'],
    ['how long the oldest has waited', 3, 0, 5, 'ok', '3 drafts are held; the oldest has waited for 5 min'],
    ['nothing worse within an hour', 1, 0, 60, 'ok', '1 draft is held; it has waited for 60 min'],
    [
      'that one is stuck after an hour',
      2,
      0,
      150,
      'warn',
      '2 drafts are held; the oldest has waited for 3 h: see LIST',
    ],
    [
      'that some are refused',
      2,
      1,
      1,
      'warn',
      '2 drafts are held, 1 of them refused: see LIST --state refused',
    ],
  ] as const
  for (const [name, held, refused, minutes, is, says] of cases) {
    test(name, () => {
      const oldestAtMs = minutes === null ? null : NOW - minutes * MINUTE_MS
      assert.deepEqual(heldDiagnosis({ held, refused, oldestAtMs }, NOW, 'LIST'), { is, what: 'held', says })
    })
  }
})
