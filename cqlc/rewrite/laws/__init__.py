"""The laws, in the order in which they are tried at a place.

First what makes a plan smaller; then what takes rows and columns away early, so that everything
above has less to do; then what simplifies update patterns; last the order of joins, which is
decided best when selections are where they belong.
"""

from cqlc.rewrite.laws.constraints import drop_declared_predicate
from cqlc.rewrite.laws.filters import (
    drop_true_filter,
    merge_filter_into_join,
    merge_filters,
    push_filter_below_aggregate,
    push_filter_below_difference,
    push_filter_below_distinct,
    push_filter_below_join,
    push_filter_below_nrr_join,
    push_filter_below_project,
    push_filter_below_rank,
    push_filter_below_rename,
    push_filter_below_union,
    push_join_predicate_down,
)
from cqlc.rewrite.laws.joins import order_joins, pass_constant_through_join, strengthen_outer_join
from cqlc.rewrite.laws.patterns import (
    lift_project_above_nrr_join,
    pull_negation_above_join,
    push_nrr_join_below_negation,
)
from cqlc.rewrite.laws.projections import (
    drop_identity_project,
    merge_projects,
    narrow_join_below_aggregate,
    narrow_join_below_project,
    narrow_rank_below_project,
    rename_in_project,
)
from cqlc.rewrite.laws.streams import drop_istream_of_unbounded

RELATION_LAWS = (
    merge_filters,
    drop_declared_predicate,
    drop_true_filter,
    rename_in_project,
    merge_projects,
    drop_identity_project,
    drop_istream_of_unbounded,
    strengthen_outer_join,
    push_filter_below_rename,
    push_filter_below_project,
    push_filter_below_union,
    push_filter_below_difference,
    push_filter_below_distinct,
    push_filter_below_aggregate,
    push_filter_below_rank,
    push_filter_below_nrr_join,
    push_filter_below_join,
    merge_filter_into_join,
    push_join_predicate_down,
    pass_constant_through_join,
    narrow_rank_below_project,
    narrow_join_below_project,
    narrow_join_below_aggregate,
    lift_project_above_nrr_join,
    push_nrr_join_below_negation,
    pull_negation_above_join,
    order_joins,
)
