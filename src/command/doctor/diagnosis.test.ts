import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { heldVerdict } from './diagnosis.ts'

const MINUTE_MS = 60_000
const NOW = Date.UTC(2026, 9, 1)

suite('doctor says of held drafts', () => {
  const cases = [
    ['that none is held', 0, 0, null, 'ok', 'no draft is held'],
    ['how long the oldest has waited', 3, 0, 5, 'ok', '3 drafts are held; the oldest has waited for 5 min'],
    ['nothing worse until --finality-overdue', 1, 0, 60, 'ok', '1 draft is held; it has waited for 60 min'],
    [
      'that one is overdue then',
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
      const told = { nowMs: NOW, overdueMs: 60 * MINUTE_MS, list: 'LIST' }
      assert.deepEqual(heldVerdict({ held, refused, oldestAtMs }, told), { is, says })
    })
  }
})
