import { startVerify } from './island-verify-forms.ts'

// The file that is saved: the checks alone, without the rest of a page's script.
startVerify()
