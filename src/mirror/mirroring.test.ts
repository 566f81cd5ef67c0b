import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { msOf } from '../protocol/moment.ts'
import { openHeadCell } from '../log/store/head-cell.ts'
import type { MirrorBuildListeners, MirrorBuilt } from './build-mirror.ts'
import { buildMirror } from './build-mirror.ts'
import type { MirrorCommit, Mirroring, MirrorListeners, MirrorState } from './mirroring.ts'
import { openMirroring } from './mirroring.ts'

const SETTINGS = {
  url: 'http://127.0.0.1:1',
  dataDirectory: '/nowhere',
  vkeys: [],
  followFormer: false,
  version: 'test',
  now: () => msOf(0),
  around: {},
} as const

suite('a mirror', () => {
  test('is not built and not opened yet', async () => {
    const listeners: MirrorBuildListeners = {
      onProgress: () => undefined,
      signal: AbortSignal.timeout(60_000),
    }
    await assert.rejects(buildMirror(SETTINGS, listeners).then((built: MirrorBuilt | object) => built))
    const commits: MirrorCommit[] = []
    const open: MirrorListeners = { onCommitted: (commit) => commits.push(commit), onFault: () => undefined }
    assert.throws((): [Mirroring, MirrorState] => {
      const mirroring = openMirroring(SETTINGS, openHeadCell(), open)
      return [mirroring, mirroring.state()]
    })
  })
})
