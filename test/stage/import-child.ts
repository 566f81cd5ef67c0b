import { writeSync } from 'node:fs'
import { importFiles } from '../../src/publish/import/import.ts'
import { settingsOf } from './import-stage.ts'

// An import for `import-crash.test.ts` that comes to a stand at the place it is told, and waits there to be killed.
const [, , stage, drafts, file = '', data = ''] = process.argv

await importFiles({
  ...settingsOf([file], data),
  onProgress(progress) {
    if (progress.stage !== stage || progress.drafts < Number(drafts)) return
    writeSync(1, 'here\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000)
  },
})
