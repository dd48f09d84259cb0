/**
 * Cases of the CEL project that our rules decide otherwise, each with the rule. The suite runs them too and
 * turns red when one starts to pass: the list may only shrink.
 */

const EXACT = "a whole number beyond 2^53-1 is a failure, never an inexact value";
const FINITE = "a division by 0 or a result that is not finite is a failure: there is no NaN and no infinity";
const TEXT_KEYS = "a key of a map is a text, as in JSON";
const TIMESTAMP_TEXT = "`timestamp` reads text";
const DURATION_TEXT = "`duration` reads d h m s ms or ISO 8601";
const TIME_TEXT = "the text of a time is RFC 3339 to the millisecond, that of a duration ISO 8601";
const TIMES_ARE_TEXT = "a bound time is its text: only an evaluation has times";
const NO_BOOL = "the table of functions is closed and has no `bool`";
const REPLACE_ALL = "`replace` takes three arguments and replaces every one";

export const DECIDED_OTHERWISE: { readonly [id: string]: string } = {
  "basic/self_eval_nonzeroish/self_eval_int_negative_min": EXACT,
  "comparisons/eq_literal/not_eq_double_nan": FINITE,
  "comparisons/eq_literal/not_eq_int_double_nan": FINITE,
  "comparisons/eq_literal/eq_map_value_mixed_types": TEXT_KEYS,
  "comparisons/eq_literal/not_eq_dyn_timestamp_null": TIMESTAMP_TEXT,
  "comparisons/eq_literal/not_eq_map_value_null": TEXT_KEYS,
  "comparisons/ne_literal/not_ne_double_nan": FINITE,
  "comparisons/ne_literal/not_ne_int_double_nan": FINITE,
  "comparisons/ne_literal/ne_double_nan": FINITE,
  "comparisons/ne_literal/not_ne_map_int_to_float": TEXT_KEYS,
  "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double": EXACT,
  "comparisons/lt_literal/lt_dyn_int_big_lossy_double": EXACT,
  "comparisons/lt_literal/not_lt_dyn_int_small_double": EXACT,
  "comparisons/lt_literal/not_lt_dyn_int_small_lossy_double": EXACT,
  "comparisons/lt_literal/not_lt_dyn_big_double_int": EXACT,
  "comparisons/lt_literal/not_lt_dyn_small_double_int": EXACT,
  "comparisons/gt_literal/not_gt_dyn_int_big_double": EXACT,
  "comparisons/gt_literal/not_gt_dyn_int_small_lossy_double": EXACT,
  "comparisons/gt_literal/gt_dyn_int_small_lossy_double_greater": EXACT,
  "comparisons/gt_literal/not_gt_dyn_big_double_int": EXACT,
  "comparisons/gt_literal/not_gt_dyn_small_double_int": EXACT,
  "comparisons/lte_literal/lte_dyn_int_big_double": EXACT,
  "comparisons/lte_literal/lte_dyn_int_small_lossy_double": EXACT,
  "comparisons/lte_literal/not_lte_dyn_int_small_lossy_double_less": EXACT,
  "comparisons/lte_literal/lte_dyn_big_double_int": EXACT,
  "comparisons/lte_literal/lte_dyn_small_double_int": EXACT,
  "comparisons/gte_literal/gte_dyn_int_big_lossy_double": EXACT,
  "comparisons/gte_literal/not_gte_dyn_int_big_double": EXACT,
  "comparisons/gte_literal/gte_dyn_int_small_lossy_double_equal": EXACT,
  "comparisons/gte_literal/gte_dyn_int_small_lossy_double_greater": EXACT,
  "comparisons/gte_literal/gte_dyn_big_double_int": EXACT,
  "comparisons/gte_literal/gte_dyn_small_double_int": EXACT,
  "conversions/double/int_min_exact": EXACT,
  "conversions/double/int_max_exact": EXACT,
  "conversions/double/int_range": EXACT,
  "conversions/double/string_exp_pos_pos": EXACT,
  "conversions/int/double_big_exact": EXACT,
  "conversions/int/double_big_precision": EXACT,
  "conversions/identity/bool": NO_BOOL,
  "conversions/identity/timestamp": TIMESTAMP_TEXT,
  "fields/map_fields/map_key_int64": TEXT_KEYS,
  "fields/map_fields/map_key_bool": TEXT_KEYS,
  "fields/map_fields/map_value_null": TEXT_KEYS,
  "fields/map_fields/map_value_bool": TEXT_KEYS,
  "fields/map_fields/map_value_float": TEXT_KEYS,
  "fields/map_fields/map_value_int64": TEXT_KEYS,
  "fields/in/singleton": TEXT_KEYS,
  "fp_math/fp_math/divide_zero": FINITE,
  "fp_math/fp_math/fp_overflow_positive": EXACT,
  "fp_math/fp_math/fp_overflow_negative": EXACT,
  "lists/size/map": TEXT_KEYS,
  "macros/exists/map_key_type_shortcircuit": TEXT_KEYS,
  "macros/exists/map_key_type_exhaustive": TEXT_KEYS,
  "macros/exists_one/map_one": TEXT_KEYS,
  "parse/nest/map_literal": TEXT_KEYS,
  "parse/repeat/map_literal": TEXT_KEYS,
  "string_ext/replace/chained": REPLACE_ALL,
  "timestamps/timestamp_conversions/toString_timestamp_nanos": TIME_TEXT,
  "timestamps/duration_conversions/toString_duration": TIME_TEXT,
  "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_negative": DURATION_TEXT,
  "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_positive": DURATION_TEXT,
  "timestamps/duration_converters/get_milliseconds": TIMES_ARE_TEXT,
};
