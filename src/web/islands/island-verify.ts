import './island-still.ts'
import { startVerify } from './island-verify-forms.ts'

// The checks run here, in the reader's browser.
startVerify()
