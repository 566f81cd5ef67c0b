import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openDirectory } from '../../../test/story/store-run.ts'
import type { MirrorMeta } from './mirror-meta.ts'
import { readMirrorMeta, refuseMirror, writeMirrorMeta } from './mirror-meta.ts'
import { openForWriting, storePath, StoreError } from './store.ts'

const moments = fc.option(fc.nat())
const metas: fc.Arbitrary<MirrorMeta> = fc.record({
  of: fc.webUrl(),
  vkeys: fc.array(fc.string()),
  firstUse: fc.boolean(),
  held: fc.option(fc.json()),
  provedAt: moments,
  contactAt: moments,
})

suite('the store of a mirror', () => {
  test('says what it mirrors as it was written last, and keeps what a later writing leaves open', () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    assert.equal(readMirrorMeta(db), null)
    refuseMirror(db)
    let kept: Pick<MirrorMeta, 'held' | 'provedAt' | 'contactAt'> = {
      held: null,
      provedAt: null,
      contactAt: null,
    }
    fc.assert(
      fc.property(metas, (meta) => {
        writeMirrorMeta(db, meta)
        const { held, provedAt, contactAt } = meta
        kept = {
          held: held ?? kept.held,
          provedAt: provedAt ?? kept.provedAt,
          contactAt: contactAt ?? kept.contactAt,
        }
        assert.deepEqual(readMirrorMeta(db), { ...meta, ...kept })
        assert.throws(() => refuseMirror(db), StoreError)
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })
})
