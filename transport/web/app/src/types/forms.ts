// Form is the body of a message that is a form.
export interface Form {
  text: string;
  fields: FormField[];
  answerers?: string[]; // who may answer; absent for everybody
  ends_at?: string;
  once?: true;
  private?: true;
}

export interface FormField {
  name: string;
  label: string;
  type: 'button' | 'line' | 'text' | 'number' | 'date' | 'yes_no' | 'one' | 'several';
  options?: string[];
  required?: true;
  min?: number;
  max?: number;
  from?: string;
  until?: string;
}

export type FormValue = string | number | boolean | string[];
export type FormValues = Record<string, FormValue>;

// FormAnswer is somebody's newest answer.
export interface FormAnswer {
  author_id: string;
  entry_id: string;
  room_seq: number;
  sent_at: string;
  values: FormValues;
}

// FormState is what has become of a form.
export interface FormState {
  answered: number;
  by: string[]; // who have answered, the first of them
  mine?: FormAnswer;
}
