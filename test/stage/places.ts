import { join } from 'node:path'

/** The project's folder. */
export const ROOT: string = join(import.meta.dirname, '..', '..')

/** The command line's entry point. */
export const MAIN: string = join(ROOT, 'src', 'main.ts')

/** The committed sample: drafts in import form. */
export const SAMPLE: string = join(ROOT, 'test', 'sample', 'sample.drafts.jsonl')

/** The golden months: every file and answer, byte for byte. */
export const GOLDEN: string = join(ROOT, 'test', 'golden')
