import { writeSync } from 'node:fs'
import { importFiles } from '../../src/publish/import/import.ts'
import { settingsOf } from './import-stage.ts'

// A process for `import-crash.slow.test.ts`: an import that stops at a given point and waits to be killed.
const [, , stage, drafts, file = '', data = ''] = process.argv

await importFiles({
  ...settingsOf([file], data),
  onProgress(progress) {
    if (progress.stage !== stage || progress.drafts < Number(drafts)) return
    writeSync(1, 'here\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000)
  },
})
