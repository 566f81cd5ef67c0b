import type { Signer } from '../../log/tree/signer.ts'
import { openTreeWriter, type TreeWriter } from '../../log/tree/tree-writer.ts'
import { assert } from '../../protocol/brand.ts'
import type { FollowedRow } from './followed-row.ts'
import type { CommitGathering } from './commit-gathering.ts'

/** The tree of a log on a table, and its signer, which sign nothing that the table has not accepted. */
type AcceptedTree = Readonly<{
  open: typeof openTreeWriter
  signer: Signer
  tree(): TreeWriter
  /** Signs the tree of this size, after its row was accepted. */
  accept(size: number): void
  /** Reads the tree again, of which the table has accepted so many leaves. */
  reload(size: number): void
  /** The signed note of the newest tree; null while this process has not signed it. */
  note(): string | null
}>

type TreeSettings = Readonly<{
  /** Gathers the lines of a commit that is built. */
  gathered: CommitGathering
  /** The commit of another node that is being applied; null while one is built. */
  followed(): FollowedRow | null
  head(): number
  /** The signer of the log. Its keys may change. */
  signer(): Signer
}>

export function openAcceptedTree({ gathered, followed, head, signer }: TreeSettings): AcceptedTree {
  let opened: TreeWriter | undefined
  let accepted = 0
  let isNoted = false

  const tree = (): TreeWriter => {
    assert(opened !== undefined, 'the appender has opened its tree')
    return opened
  }
  const guarded: Signer = {
    sign(of) {
      // A month that ends in moved history has its note. Any other one ended with an accepted commit.
      const note = followed()?.noteAt(of.size)
      if (note !== undefined) return { signature: new Uint8Array(0), note }
      assert(of.size <= accepted, `a tree of ${of.size} leaves is signed only after it was accepted`)
      return signer().sign(of)
    },
  }

  function reload(size: number): void {
    accepted = size
    tree().reload(size)
    isNoted = false
  }

  return {
    signer: guarded,
    tree,
    open(db, _signer, size) {
      const own = openTreeWriter(db, guarded, size)
      opened = own
      accepted = size
      return {
        ...own,
        reload,
        add(line, details) {
          const added = own.add(line, details)
          const commit = followed()
          if (commit !== null) return { ...added, signature: commit.signatureAt(head() + 1) }
          gathered.lines(line, details)
          return added
        },
      }
    },
    accept(size) {
      if (size === accepted) return
      accepted = size
      tree().sign(size)
      isNoted = true
    },
    reload,
    note: () => (isNoted ? tree().checkpoint() : null),
  }
}
