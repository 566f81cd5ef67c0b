import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { openEvidence, readEvidence } from '../../../src/cluster/log/evidence-folder.ts'
import { openRowChain } from '../../../src/cluster/row/row-chain.ts'
import { decodeRow, encodeRow, openRowVerifier } from '../../../src/cluster/row/row-frame.ts'
import { openPrimaryFile } from '../../../src/cluster/table/primary-file.ts'
import { verifierKeyOf } from '../../../src/log/tree/signer.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { ACCEPTED, type AttackedParser, ofValue, REFUSED } from '../../torture/requests/attacked-parser.ts'
import { randomRows } from '../row/random-rows.ts'
import { beginWith, rowAfter } from '../row/written-log.ts'
import { readBranchDrafts } from '../../../src/cluster/log/lost-drafts.ts'

const LOG_ID = beginWith().identity.id
const rows = fc.sample(randomRows, { seed: 9, numRuns: 12 }).map((row) => encodeRow(row, TEST_KEY))
const verifier = openRowVerifier([verifierKeyOf('daybook.test/rows', TEST_KEY.publicKey)])
const first = rowAfter(undefined, 1, beginWith())

/** Rows of a branch as its file has them. */
const branchOf = (branch: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    branch.flatMap((bytes) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )

/** Parsers of what the table holds and of the files of a node. They read files in this folder. */
export function tableParsers(folder: string): readonly AttackedParser[] {
  const primary = openPrimaryFile(folder)
  openEvidence(folder, LOG_ID).keep({ ours: [], table: [] })
  return [
    {
      name: 'a row of a table',
      valid: rows,
      read: (bytes) => (decodeRow(bytes).ok ? ACCEPTED : REFUSED),
    },
    {
      name: 'a signed row of a table',
      valid: rows,
      read(bytes) {
        const decoded = decodeRow(bytes)
        if (!decoded.ok || verifier.refusalOf(decoded.signed) !== null) return REFUSED
        return { is: 'accepted', again: encodeRow(decoded.signed.row, TEST_KEY) }
      },
    },
    {
      name: 'the first row of a table',
      valid: [first],
      read(bytes) {
        const chain = openRowChain({ treeAt: () => null, known: null })
        return chain.add(1, bytes).fault === null ? { is: 'accepted', again: first } : REFUSED
      },
    },
    {
      name: 'the primary of a table',
      valid: ['7400000000000000000 3\n'],
      throws: ['TableError'],
      read(bytes) {
        writeFileSync(join(folder, 'primary'), bytes)
        return ofValue(primary.read())
      },
    },
    {
      name: 'the evidence of a fork',
      valid: [branchOf(rows), branchOf([first])],
      throws: ['StoreError'],
      read(bytes) {
        writeFileSync(join(folder, 'evidence', `${LOG_ID}-ours`), bytes)
        return ofValue(readBranchDrafts(readEvidence(folder, LOG_ID).ours))
      },
    },
  ]
}
