import { join } from 'node:path'

/** Folder of the project. */
export const ROOT: string = join(import.meta.dirname, '..', '..')

/** Entry point of the command line. */
export const MAIN: string = join(ROOT, 'src', 'main.ts')

/** The committed sample: drafts in import form. */
export const SAMPLE: string = join(ROOT, 'test', 'sample', 'sample.drafts.jsonl')

/** Golden files: the files and answers of some months, byte for byte. */
export const GOLDEN: string = join(ROOT, 'test', 'golden')
