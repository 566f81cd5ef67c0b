import { randomBytes } from 'node:crypto'
import type { Draft } from '../../../src/protocol/draft.ts'
import type { Month } from '../../../src/protocol/moment.ts'
import { tradeDraft } from '../../story/trade-draft.ts'

/** A draft with details of random text, which no compression makes smaller. */
export function randomOutput(ref: string): Draft {
  const url = `https://daybook.test/${randomBytes(1_400).toString('base64url')}`
  const details = { month: '2026-05' as Month, digest: `sha256:${'0'.repeat(64)}`, recipients: 1, url }
  return tradeDraft(ref, { type: 'loyalty', kind: 'output', details })
}
