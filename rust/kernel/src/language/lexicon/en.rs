//! English.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "en",
    common: "a an the and or but if of to in on at by for with from into about as than then so not no \
        is are was were be been being am has have had having do does did done doing can could will \
        would shall should may might must i you he she it we they me him her us them my your his its \
        our their mine yours this that these those there here who whom whose what which when where \
        why how all any some more most very too just also only up out over after before because \
        while during don didn doesn isn wasn aren t m d ll ve re get got like want wants likes went go \
        really think know let",
    stop_words: "a an and any are as at be been being but by can could did do does doing for from \
        had has have having he her hers him his how i if in into is it its me my of on or our ours \
        she should so such than that the their theirs them then there these they this those to was \
        we were what when where which while who whom whose why will with would you your yours",
    time: "yesterday today tomorrow tonight ago last next week weeks weekend weekends month months \
        year years day days monday tuesday wednesday thursday friday saturday sunday morning mornings \
        evening evenings afternoon noon midnight night hour hours minute minutes second recently lately \
        since summer winter spring fall autumn decade decades century oclock pm fortnight christmas \
        easter halloween thanksgiving earlier later soon",
    kin: "mother mom mum mommy father dad daddy sister sisters brother brothers sibling siblings son \
        sons daughter daughters wife husband spouse fiance fiancee friend friends family parent parents \
        kid kids child children grandma grandmother granny grandpa grandfather grandparents grandson \
        granddaughter aunt uncle cousin cousins nephew niece partner boyfriend girlfriend ex colleague \
        colleagues coworker coworkers boss manager mentor team teammate roommate flatmate neighbor \
        neighbour neighbors neighbours teacher doctor landlord",
    months: [
        "january #jan",
        "february feb",
        "*march *mar",
        "april apr",
        "*may",
        "june jun",
        "july jul",
        "august aug",
        "september sept sep",
        "october oct",
        "november nov",
        "december dec",
    ],
    in_month: "in of since until till last next early late mid by during",
    asks: "why did do does is are was were am has have had can could would will should shall may might \
        isn aren wasn weren didn doesn don hasn haven",
    when: "when",
    place: "where",
    who: "who whom whose",
    which: "which what whats",
    how: "how",
    named: "city book name country place song movie game company town band artist state school names \
        cities books countries places songs movies games companies bands restaurant hotel street \
        university film airline",
    called: "called named",
    times: "long date day days time month months week weeks year years hour hours minute minutes \
        weekday often old dates soon",
    numbers: "one two three four five six seven eight nine ten eleven twelve hundred thousand",
    conditions: "before: before came_before come_before just_before shortly_before right_before \
        prior_to ahead_of earlier_than up_until up_till previous_to in_the_days_before \
        in_the_weeks_before in_the_months_before in_the_time_before leading_up_to up_to_the_day \
        until_the_day ~came_round ~came_around | until: until till up_to up_until | since: since \
        as_from | onward: on onward onwards | from: from | to: to till until | through: through | \
        after: after later_than following ~was_over ~is_over ~behind_us ~had_passed | between: between \
        | and: and | beginning: beginning start early first_days_of first_week_of early_on outset \
        go_into going_into went_into ~began ~begins ~started turn_of first_day_of first_of | middle: \
        middle mid | end: end late close ~ended last_days_of last_week_of ~closed ~came_to_an_end \
        last_day_of ~was_nearly_over ~was_almost_over | back: back_in as_of \
        throughout all_through over_the_course_of in_the_course_of me_back_to us_back_to go_back_to \
        going_back_to | in: in during in_the_month_of around | last: last | newest: latest most_recent \
        most_recently last_time we_last i_last changed_last last_changed change_last last_change \
        last_touch last_touched last_edit last_edited last_modified last_worked_on last_work_on \
        last_opened for_the_last_time changed_for_the_last_time the_last_to how_long_ago \
        how_long_has_it_been_since how_long_is_it_since latest_change most_recent_change latest_edit \
        most_recent_edit latest_word latest_word_on most_recent_word most_recent_word_on \
        we_last_decide we_last_decided we_last_touch we_last_touched we_last_change we_last_changed \
        we_last_work_on we_last_said we_last_say most_recently_work_on most_recently_changed newest \
        current_one stand_now last_word last_word_on as_it_is_today as_of_today as_things_stand | \
        oldest: at_first initially originally in_the_beginning to_begin_with very_first we_first \
        i_first was_first came_first comes_first we_start_with we_started_with we_began_with use_first \
        used_first have_first had_first take_first took_first choose_first chose_first picked_first \
        set_up_first first_of_all we_start_out_with we_started_out_with we_begin_with \
        at_the_very_start at_the_very_beginning in_the_very_beginning earliest our_initial \
        was_the_initial our_original was_the_original was_our_first the_original_one on_day_one | \
        what: what which | follows: replaced replace replaces came_after comes_after took_over_from \
        take_over_from takes_over_from successor_of successor_to took_the_place_of take_the_place_of \
        takes_the_place_of superseded supersede displaced displace push_out drive_out switch_to_from \
        move_to_from change_to_from move_to_after switch_to_after change_to_after came_in_for \
        came_in_place_of ~was_gone | precedes: replaced_by succeeded_by followed_by preceded precedes \
        predecessor_of predecessor_to give_up_for gave_up_for superseded_by gave_way_to give_way_to \
        made_way_for make_way_for had_to_go_for dropped_for given_up_for swapped_for drop_in_favour_of \
        drop_in_favor_of dropped_in_favour_of dropped_in_favor_of away_from_when | while: \
        at_the_time_of at_the_time at_the_time_when in_the_days_of back_in_the_days_of around_the_time \
        around_the_time_of by_the_time back_when during_the on_the_day_of | when: when while as \
        as_long_as the_moment the_day on_the_day at_the_point_when at_the_point_where | decides: \
        settled chose chosen picked decided agreed adopted switched introduced | we: we | cuts: take \
        took taken use used uses using get run ran moving was were is are had has still as came went \
        got days era who what which where how why | past: was were had did_we_have did_we_use used_to \
        | states: stood become became in_force in_effect in_place in_use | units: day days week weeks \
        weekend month months year years night monday tuesday wednesday thursday friday saturday \
        sunday",
    claims: Claims {
        now: "since_today since_yesterday as_of_yesterday since_this_morning since_this_week please_note please_note_that heads_up from_here_on may_now can_now from_then_on \
            as_of_today starting_now at_the_moment now right_now currently nowadays these_days \
            from_now_on as_of_now at_present meanwhile by_now henceforth going_forward from_today \
            since starting as_of",
        ends: "axed nixed shelved called_time_on is_history stopped_meeting has_gone_off no_longer \
            not…any_more not…anymore no_more stopp+ed stops stop+s ceas+ed+es quit+s+ting gave_up \
            given_up gives_up give_up had_to_give_up is_done_with never…again not…any_longer \
            no_longer_is hasn't…since stopped_being not…these_days never_again ceased_to \
            is_not…now are_not…now any_longer has_stopped have_stopped gave_it_up kicked_the_habit \
            swore_off sworn_off dropped_the_habit went_off came_off_the weaned_off grew_out_of \
            outgrew outgrown fell_out_of has_given_up turned_away_from broke_the_habit is_past \
            not…nowadays discontinu+ed phased_out retired_the sunset hasn't_touched \
            haven't_touched hasn't…in_months hasn't…in_weeks hasn't…in_years haven't…in_months \
            haven't…in_weeks haven't…in_years hasn't_been…for_months came_off come_off \
            went_off_the is_off off_the stay_away_from stays_away_from keeps_away_from gave…up \
            kicked laid_off_the has_had_enough_of done_with through_with fed_up_with cut_out \
            cuts_out packed_in packed_it_in drops_the dropped_the has_put…aside put…aside \
            put_aside hung_up hangs_up is_finished_with has_finished_with won't…anymore \
            don't…anymore doesn't…anymore doesn't…any_more don't…any_more isn't…anymore \
            aren't…anymore can't…anymore didn't_go_on has_ceased abolished scrap+s did_away_with \
            does_away_with weaned gave_up_on shut shuts",
        disposes: "sold died passed_away gave_away given_away got_rid_of cancelled canceled \
            cancels called_off threw_away donated lost got_stolen was_stolen scrapped removed \
            deleted unsubscribed_from deregistered discarded ended_the has_ended returned_the \
            gave_back let_go_of abandoned traded_in lost_the got_rid parted_with threw_out \
            thrown_out auctioned rehomed put_down was_put_down was_put_to_sleep were_stolen \
            ran_away broke_beyond returned_it cancelled_the dropped_the_subscription let…lapse \
            lapsed tore_down torn_down demolished wrote_off written_off totalled shredded \
            passed_on_to disposed_of sold_off sells_off relinquished forfeited surrendered \
            terminated revoked got_shot_of gave_it_away gave_them_away put…up_for_sale \
            up_for_sale went_to_the_scrapyard went_to_recycling went_in_the_bin in_the_bin \
            in_the_trash went_to_the_dump to_the_tip scrapped_the traded_it_in sold_it sold_them \
            cancelled_my cancelled_her cancelled_his cancelled_their canceled_my canceled_her \
            canceled_his sent_back sent_it_back chucked_out chucked binned ditched ditches junked \
            dumped retired_the pulled_the_plug crossed_the_rainbow_bridge said_goodbye_to \
            said_farewell_to bid_farewell_to didn't_survive stole was_written_off \
            broke_down_for_good gave_up_the_ghost unsubscribed didn't_renew did_not_renew \
            not_renewed was_taken_away was_deleted got_deleted dismantled handed_back \
            broke_for_good burned_down burnt_down is_no_more are_no_more ran_out let_it_go \
            let_them_go lets_go sent_home chopped_off cut_off_the",
        closes: "stood_down wound_up wound_down was_disabled is_disabled got_disabled \
            has_been_disabled was_retired used_to_be has_reopened reopens was_dropped finished \
            completed closed fixed resolved repaired merged recovered healed deprecated \
            discontinued shut_down retired_from retires gave_birth stepped_down stepped_back \
            moved_out moved_out_of gave_notice withdrew withdrawn broke_up split_up separated \
            divorced got_divorced expired dropped_out is_gone was_gone ran_out reached passed_the \
            back_at back_in back_from is_back up_and_running found_a got_a_job dropped solved \
            settled taken_down turned_off switched_off decommissioned shipped released \
            graduated_from graduated over_with is_over ended removed cleared paid_off passed_his \
            passed_her works_again passes_again got_better got_over cured cut_off called_it_quits \
            fell_through came_off lifted unblocked reopened disbanded dissolved closed_down \
            went_bankrupt turned_down over gone former formerly used_to untrue false incorrect \
            forget wrapped_up concluded finalised finalized delivered closed_its_doors shuttered \
            called_it completed_the got_rid_of_the has_passed passed_away_in has_ended is_finished \
            are_finished is_complete is_done has_healed is_healed is_cured has_recovered got_well \
            is_better went_away cleared_up subsided has_cleared out_of_hospital was_discharged \
            discharged back_home back_on back_online is_live went_live came_back up_again \
            running_again works_now fixed_itself patched remedied rectified sorted_out ironed_out \
            resolved_itself called_quits annulled walked_out moved_on_from ended_things \
            ended_the_relationship filed_for_divorce widowed stepped_aside handed_in bowed_out \
            pulled_out dropped_it turned_it_down declined passed_it has_graduated finished_school \
            had_the_baby had_a_baby was_born retired_as demobilised decommission+ed offboarded \
            archived sunsetted superseded obsolete restored recalled voided off \
            went_their_separate_ways went_separate_ways called_off_the broke_off broke_off_the \
            is_through came_to_an_end has_come_to_an_end came_home_from is_home got_back_from \
            returned_from arrived landed_on was_lifted ran_its_course is_closed was_closed is_shut \
            was_shut went_under folded_the went_out_of_business got_the_all-clear all-clear \
            tested_negative passed_away on_the_mend got_her_degree got_his_degree got_their_degree \
            got_my_degree finished_her finished_his finished_my finished_their ran_the \
            was_approved got_approved was_rejected got_rejected was_granted got_granted was_merged \
            is_merged got_merged was_fixed got_fixed is_fixed was_signed got_signed went_through \
            was_paid is_paid paid_back settled_the settled_up tolerates_now fully_recovered \
            good_as_new made_it_through survived got_over_it is_clear",
        changes: "passed_the_baton is_being_replaced traded_up traded_down scal+ed relegat+ed \
            promot+es demot+es transfers transfer reschedul+es postpon+es renam+es doubl+es \
            halv+es doubling replacing redeployed rehosted moved_back shortens lengthens tripl+es \
            deferred deferr+ed extended_to extended_until reappointed re-elected pulled_in \
            brought_back_to taken_from mov+ed+es+ing_to mov+ed+es relocat+ed+es+ing transferred \
            switch+ed+es+ing migrat+ed+es chang+ed+es+ing replac+ed+es+ing+es updat+ed+es \
            downgrad+ed+es promoted demoted rais+ed+es increas+ed+es reduc+ed+es lower+ed+s cut+s \
            cut_to cut_down fell grew grown gone_up went_up went_down going_up rose risen \
            dropped_to up_to down_to is_up_to is_down_to rescheduled postponed put_off put_back \
            put_forward extend+ed+s delay+ed slipped pushed_back pushed_to brought_forward renamed \
            rewritten rewrote relicensed ported becom+e+es became turned turned_into convert+ed+s \
            handed took_over taken_over swapp+ed+es swap+s set_to is_set_to shorten+ed doubled \
            halved tripled moved_up moved_down reassigned reelected elected appointed \
            replaced_with adjusted bumped dropped_from shifted redesigned refactored reorganised \
            redecorated rebranded painted repainted cut_her cut_his dyed dyes promoted_to expanded \
            shrank shrunk climbed_to jumped_to gained instead traded_in traded tightened relaxed \
            revised lengthened dropped handed_over passed_to passed_on rebooked swapped_out \
            ripped_out sits_on resettled rehomed repurposed rerouted repointed rewired \
            reconfigured reformatted remodelled renovated restyled rescaled retrained retitled \
            reprinted reissued recoded refiled rearranged rebased reclassified recalculated reset \
            restructured restyles rescoped cutover cut_over failed_over rolled_over rolled_back \
            migrates decreas+ed+es dropp+ed_to slash+ed doubled_to halved_to trimmed capped_at \
            bumped_to went_from gone_from went_back_to came_down_to jumped dropped_down climbed \
            plunged upped pared_down scaled_up scaled_down scaled_back scaled_to quadrupled \
            widened narrowed nudged loosened pulled_forward moved_forward pushed_out \
            pushed_forward shifts put_back_to now_runs graduated_to advanced_to progressed_to \
            enlarged merged_into split_into consolidated_into evolved_into outsourced insourced \
            substitut+ed+es supersed+ed+es supplanted succeed+ed+s took_the_place takes_the_place \
            takes_over takes_over_from took_over_from stepped_in handed_off hands_over ceded \
            bequeathed passed_the_torch traded_for swapped_for exchang+ed+es reallocated \
            redirected relabelled relabeled reprioritised reprioritized repriced re-signed \
            renegotiated refinanced remarried reverted reverts returned_to went_over_to goes_by \
            goes_by_the_name now_goes converted_to crossed_over upsized downsized translates_to \
            got_a_raise got_promoted was_made made_permanent came_back_as comes_in instead_takes \
            opted_for opts_for settled_on landed_on ended_up_with ended_up went_with chose \
            picked_instead adopted_a changed_over changed_her changed_his changed_its \
            changed_their changed_to transitioned_to transitions_to upgrad+ed+es made_the_switch \
            switch_to made_the_move made_the_jump went_for_a instead_of_the swapped…for traded…for \
            exchanged…for replaced…with replaced…by put_her_on put_him_on put_me_on put…on \
            moved_over moved_over_to moves_over migrated_to converted…into has_replaced \
            gave_way_to makes_way_for made_way_for in_favour_of in_favor_of the_rewrite \
            finished_the_rewrite after_the_migration after_the_move after_the_switch \
            after_the_merger after_the_reorg after_the_reorganisation had_to_push pushed…back \
            went_over went_remote went_digital went_electric went_vegan went_vegetarian \
            went_part-time went_full-time went_freelance went_independent gave…to goes_to_the \
            went_to_the passes_to_the switched_sides stepped_into took_up_the_post took_the_helm \
            holds_the_post succeeded_by is_the_new are_the_new becomes_the new_owner new_boss \
            new_job new_address new_number new_place new_name new_home new_phone new_car \
            new_doctor new_dentist new_provider new_plan new_time new_date new_deadline new_lead \
            new_price dropped_down_to talked_me_into turned_me_into turned_him_into \
            turned_her_into grew_into",
        begins: "start+ed+s+ing began begins got bought buys adopted join+ed+s+ing accept+ed+s \
            hired married marries engaged took_up picked_up opened launched introduced enrolled \
            signed signed_with new expecting took_a_job turned passes again took_on landed \
            has_a_new found got_engaged got_married dating converted moved_in_with joins hired_by \
            was_hired got_hired took_a_position took_a_role took_the_job took_the_role \
            landed_a_job starting_at started_at started_as started_working began_working became_a \
            moved_in switched_on_to subscribed_to signed_up_for enrolled_in enrols picked \
            opened_a founded started_her_own started_his_own tied_the_knot got_hitched \
            proposed_to is_expecting was_given was_assigned assigned_to acquired leased rents_a \
            bought_a bought_the replaced_it inherited opened_an_account signed_up_with \
            started_working_at started_working_for started_a_job began_a_job got_a_job \
            got_a_place got_the_job got_a_new bought_himself bought_herself bought_themselves \
            bought_myself got_himself got_herself got_themselves got_myself treated_himself_to \
            treated_herself_to treated_myself_to came_aboard came_on_board joins_as moved_into \
            moves_into has_a_place has_a_home fell_for took_a_liking took_to has_taken_to \
            has_taken_up took_over_as began_a started_a started_an began_an accepted_a \
            accepted_an accepted_the signed_a got_hired_as was_hired_as promoted_to",
        leaves: "left quit resigned_from resigns_from resigned was_laid_off_from was_laid_off_by \
            was_laid_off was_fired_from was_fired_by was_fired was_let_go laid_off dropped_out_of \
            leaves moved_away_from moved_from moved_away moved_out_of left_her_job left_his_job \
            left_their_job gave_up_her_job gave_up_his_job handed_in_her_notice \
            handed_in_his_notice walked_away_from parted_ways_with parted_ways got_fired_from \
            got_fired was_made_redundant made_redundant was_dismissed was_sacked lost_her_job \
            lost_his_job lost_their_job moved_on_from transferred_out_of graduated_from \
            dropped_out stepped_away_from departed exited has_left is_leaving called_it_a_day_at \
            handed_in_my_notice handed_in_my_resignation handed_in_her_resignation \
            handed_in_his_resignation resigned_as quit_her_job quit_his_job quit_their_job \
            quit_my_job quit_the quit_as gave_notice_at was_let_go_by was_let_go_from \
            lost_the_job is_out_of_a_job jumped_ship_to jumped_ship was_poached_by poached \
            headhunted_by",
        corrects: "strike_that my_bad i_stand_corrected on_reflection was_a_mistake was_an_error \
            after_all by_mistake actually correction in_fact turns_out turned_out turns_out_that \
            misunderstanding mistake mistaken was_wrong is_wrong wrongly contrary_to to_be_precise \
            correcting it_was_a_misunderstanding scratch_that i_was_wrong i_misspoke misspoke \
            i_meant meant_to_say i_mean sorry oops my_mistake typo as_it_turns_out it_turns_out \
            it_turned_out got_that_wrong had_that_wrong got_it_wrong let_me_correct \
            to_correct_myself not_true that's_wrong that_was_wrong was_mistaken were_wrong \
            mixed_up mixed_that_up confused_it correction_to_what contrary_to_what i_said \
            on_second_thought on_second_thoughts changed_my_mind changed_her_mind changed_his_mind \
            changed_their_mind",
        replaces: "instead_of rather_than in_place_of as_opposed_to",
        contrasts: "but",
        adds: "also too as_well in_addition additionally besides another both not_only not_just \
            as_well_as other others along_with on_top_of further furthermore more_than_one plus_a \
            not_yet additional extra as_another likewise moreover plus_one both_of together_with \
            side_by_side alongside in_parallel a_second a_third another_one a_few_more one_more \
            two_more more_of on_the_side besides_that and_also apart_from_that not_merely \
            not_simply second third",
        hedges: "if would might may could should maybe perhaps possibly probably wonder+s+ed+ing \
            whether want+s+ed_to wants_a wants_an wants_the wants plan+s+ned_to planning_to \
            plans_on planning_on planning thinking consider+s+ed+ing dream+s+t+ed+ing \
            hop+es+ing+ed unless claim+s+ed say+s said tell+s told thinks thought believ+e+es+ed \
            rumour+s+ed rumor+s+ed it_is_rumoured according_to unlike assum+e+es+ed guess+es+ed \
            suppos+e+ed+edly supposed_to reportedly apparently seemingly unsure unclear undecided \
            not_sure looking_at looking_into looking_for_a evaluat+e+es+ing explor+e+es+ing \
            tempted interested_in as_if wish+es+ed suggest+s+ed propos+e+es+ed allegedly likely \
            unlikely about_to going_to intend+s+ed toy+s+ing_with imagin+e+es+ed pretend+s+ed \
            someday one_day eventually can_imagine doubt+s+ed expect+s+ed_to asked_for_information \
            asks_whether asked_whether asked_if heard hears in_theory hypothetically would_like_to \
            would_love_to ought supposedly seems seem aims_to tries_to trying_to tried_to \
            considers_moving applied_for applies_for applying_for trying_out fear+s+ed_that \
            worries_that as_though unconfirmed mentioned_that nearly almost refus+ed+es_to \
            testing_out presumably potentially hypothetical tentatively provisionally tentative \
            rumor rumours rumors gossip speculat+e+es+ed conjecture mulling toying pondering \
            contemplat+e+es+ing debating weighing eyeing aspires long+s_to yearns would_rather \
            wouldn't_mind keen_to hoping_for dreams_of fantasis+es pretends joked jokes kidding \
            sarcastically depends_on_whether in_case provided_that assuming as_long_as should_they \
            were_to might_have may_have could_have quoted_as reports_say alleges insinuates \
            insists overheard swears promis+ed+es vows threaten+s+ed offers_to offered_to \
            draft_proposal proposal to_be_confirmed tbc tbd pending_approval subject_to \
            under_discussion under_consideration is_considering are_considering is_thinking \
            thinking_of thinking_about mentioned_possibly planned_to is_planning \
            scheduled_to_maybe in_principle not_certain nobody_knows unclear_whether asked_about \
            wonders_about curious ideally",
        temporary: "this_week today today's tonight this_morning this_afternoon this_evening \
            this_month this_weekend this_year this_time this_monday this_tuesday this_wednesday \
            this_thursday this_friday this_saturday this_sunday this_summer this_winter \
            this_spring this_autumn until_sunday until_monday until_tuesday until_wednesday \
            until_thursday until_friday until_saturday until_next until_tomorrow until_the \
            until_then until_further_notice until for_a_week for_a_day for_a_month for_a_while \
            for_a_night for_one_week for_two_weeks for_three_weeks for_the_week for_the_weekend \
            for_the_moment for_now at_the_moment visiting staying on_holiday on_vacation \
            business_trip on_a_trip temporarily for_the_time_being yesterday last_night last_week \
            once currently_visiting right_at_the_moment during_the_outage over_the_weekend \
            tomorrow next_week for_today just_today for_tonight all_week all_day until_further \
            through_friday through_sunday through_the_end till_friday till_monday till_sunday \
            till_next till_the for_a_few_days for_a_few_weeks for_some_days for_a_bit \
            for_the_summer for_the_day for_the_time for_the_duration for_three_days for_two_days \
            for_two_months for_three_months for_a_year for_six_months on_a_business_trip \
            on_leave_until house-sitting dog-sitting house_sitting filling_in_for standing_in_for \
            covering_for in_the_meantime as_a_stopgap stopgap interim temporary short-term one-off \
            while_the passing_through in_town just_this_once as_an_exception tonight's yesterday's \
            tomorrow's last_weekend the_other_day as_a_trial on_trial as_a_test",
        partly: "when while whenever only just solely mostly partly sometimes often usually \
            directly in_most_cases mainly partially except at_times occasionally rarely largely \
            some_of half_of unless_it twice every_time except_for exclusively if_possible \
            in_emergencies in_an_emergency at_most at_least as_needed when_needed during \
            during_the while_at as_a_treat now_and_again once_in_a_while every_other every_second \
            from_time_to_time seldom hardly barely almost_never mostly_only unless on_occasion \
            in_general on_average depending half for_the_most_part to_some_extent",
        denies: "not no never neither nor without cannot none nobody nothing",
        from: "from",
        to: "to into",
        user: "user user's",
        be: "is are was were be been being am : = =>",
        have: "ha+s+ve+d+ving own+s+ed got keep+s kept possess+es",
        prepositions: "about above across after against along among around at before behind below \
            beneath beside between beyond by despite down during except for from in inside into \
            near of off on onto out outside over past per since through throughout till to toward \
            towards under until up upon via with within without as",
        function: "a an the and or do does did it its he him his she her hers they them their \
            there this that these those i my me you your we our us who which then so very already \
            still again once who's will can it's just really that's ones",
        owners: "his her hers their theirs its my your our this that these those",
        indefinite: "a an another some several many few any two_of every each",
        kin: "tenant tenants client clients customer customers daughter-in-law son-in-law \
            mother-in-law father-in-law brother-in-law sister-in-law godson goddaughter godchild \
            stepson stepdaughter stepmother stepfather twin twins pet pets dog dogs cat cats \
            landlady in-law in-laws roommates housemate housemates classmate grandchild \
            grandchildren buddy pal best_friend guest guests baby babies puppy kitten horse rabbit \
            hamster parrot triplets",
        not_kin: "family team mentor landlord doctor teacher boss manager ex",
        many: "ship+s_to like+s+d lov+e+es+ed enjoy+s+ed+ing hat+e+es dislik+e+es+ed know+s speak+s \
            visit+s+ed play+s+ed depend+s support+s+ed member members allergic allergies afraid \
            read+s read writ+e+es wrote bought buy+s won gave give+s attend+s+ed includ+e+es+ed \
            contain+s collect+s+ed cook+s+ed practis+e+es practic+e+es want+s tak+es need+s \
            compatible available interested met tri+ed+es export+s sing+s follow+s allowed \
            provid+e+es offer+s+ed sell+s accept+s believ+e+es encourag+e+es admir+e+es ask+s \
            valu+e+es find+s volunteer+s appreciat+e+es recommend+s+ed feel+s hop+e+es \
            mention+s+ed help+s motivat+e+es inspir+e+es fan admire trust+s miss+es bak+e+es+ed \
            us+ed_to eat+s drink+s expos+e+es log+s wear+s celebrat+e+es grow+s wish+es learn+s+ed \
            paint+s crave+s dream+s proud worri+ed+es interested_in knows_how can certified fluent \
            integrates exports sends sent emit+s consist+s belong+s subscribe+s invest+s \
            donat+e+es has_been_to been_to has_seen interacts cares walk+s hik+e+es danc+e+es \
            remember+s lik+ing good_at bad_at owns adore+s favo+rs_both attends coaches collects \
            bakes brews keeps_bees gardens juggles tutors mentors speaks_some plays_in sings_in \
            dances fences surfs skis snowboards climbs runs_marathons donates subscribes_to deliver+s_to ship+s_to delivers…to ships…to \
            follows watches reads_about listens_to uses_both can_play can_speak hates fears \
            detest+s loathes resents envies respects trusts distrusts supports_the backs \
            cheers_for dabbles invests_in trades cooks_with grills barbecues snacks_on craves \
            avoids tolerates reacts_to knows_about studies_about writes_about blogs_about \
            tweets_about befriended listen_to listened_to watched",
        one: "live+s liv+ed+ing resid+e+es+ing work+s+ed+ing report+s+ing prefer+s+red favou+rs \
            clos+es open+s+ing leav+es depart+s driv+e+es+ing start+s begin+s end+s finish+es \
            last+s cost+s weigh+s earn+s run+s+ning listen+s_on based named called studi+es \
            study+ing teach+es rent+s commut+e+es+ing sleep+s go+es_to_bed get+s_up wak+es_up \
            get_up gets_up goes_to_bed wakes_up bank+s us+es+e_as identif+ies serve+s_as uses \
            host+ed hosted deployed written built maintained led located held chaired managed \
            owned caused stored stores formatted organised organized run_by published \
            released_under born majors study commute+s lives_on sponsored scheduled \
            planned stays coached supervised stores_data cached tracked billed rendered searched \
            indexed monitored parsed queued rented supplied catered audited encrypted \
            rounded measured cleaned backed_by powered generated validated authenticated compiled \
            edited",
        measures: "cost+s weigh+s tak+es hold+s requir+es contain+s pay+s earn+s last+s retri+es \
            listen+s measure+s run+s need+s serv+es host+s handl+es allow+s send+s return+s keep+s \
            stor+es has consists smoke+s drink+s sleep+s charge+s lock+s expires wait+s permit+s \
            retries accept+s \
            kept_for retained stored_for held_for limited capped restricted valid_for free_from \
            take times_out_after time_out_after expire_after expires_after closes_after \
            close_after locks_after deleted_after archived_after purged_after removed_after \
            cached_for blocked_for locked_for reserved_for due_in due_within paid_within \
            delivered_within shipped_within answered_within refreshed_every rotated_every",
        attributes: "pulse warehouse head_teacher headteacher timeout budget deadline port address \
            email phone number version release salary wage rent birthday age name nickname branch \
            manager supervisor boss limit pricing price cost fee size weight height capacity owner \
            maintainer lead leader ceo cto cfo landlord doctor dentist therapist lawyer trainer \
            coach favourite favorite default theme editor shell browser os car laptop wedding \
            standup meeting appointment retro launch interval ttl quota threshold coverage \
            retention framework database language library password timezone currency color colour \
            goal target record score rate rating replicas workers retries pronouns hometown \
            nationality school university major class grade level shift delay batch length width \
            flag mode plan subscription tariff provider insurance bank gym sponsor contact status \
            state region zone hostname domain url endpoint title position role job employer office \
            room desk seat captain president chair chairman secretary treasurer principal vet \
            hairdresser accountant agent physician surgeon gp cardiologist bandwidth latency \
            memory storage temperature thermostat speed mileage brand model dose dosage medication \
            diet commute venue location headquarters capital backend frontend formatter linter \
            compiler bundler queue broker cache host server cloud registry license licence edition \
            format encoding charset locale font wallpaper background ringtone alarm curfew bedtime \
            passport plate pin code codename slogan motto logo mascot hair haircut hairstyle \
            engine mail username handle keyboard mouse monitor headset router watch smartphone \
            tablet bike camera guitar extension hotline slot curator chairperson host_family nanny \
            babysitter tutor mentor pediatrician paediatrician psychiatrist optician orthodontist \
            pharmacist plumber gardener cleaner stylist barber notary advisor adviser referee \
            coordinator moderator editor-in-chief publisher supplier vendor carrier courier \
            landlord's custodian guardian godfather godmother priest pastor rector dean headmaster \
            headmistress mayor governor minister superintendent foreman owner's ssid iban \
            blood_type shoe_size ring_size citizenship religion faith denomination party avatar \
            screen_name middle_name surname maiden_name first_name last_name zip postcode county \
            mother_tongue native_language stack orm runtime interpreter build_tool package_manager \
            test_runner ci cdn dns cron schedule cadence sla rpo rto backup_interval \
            retention_period cluster node_count pod_count instance machine_type image tag \
            namespace topic partition shard concurrency parallelism pool_size chunk_size page_size \
            max_size min_size heap stack_size log_level severity priority assignee reviewer \
            approver stakeholder milestone sprint_length velocity release_date due_date ship_date \
            go-live kickoff review demo handover rehearsal practice training lesson_day \
            meeting_room boardroom gate terminal platform track seat_number table_number \
            room_number floor_number locker parking_spot licence_plate thickness depth diameter \
            radius volume density dosage_form pressure_level heart_rate blood_pressure bpm \
            cholesterol vision prescription glasses allergy_medication inhaler crib mattress \
            pillow brand_of_coffee coffee_order usual_order perfume shampoo toothpaste deposit \
            savings mortgage loan interest pension premium deductible copay allowance pocket_money \
            tuition fine tip discount markup margin revenue turnover headcount attendance \
            membership dues ranking rank position_in_league league division team_name \
            jersey_number",
        personal: "birthday salary wage rent weight height age birthdate bedtime nickname pronouns \
            hometown",
        of_things: "price cost fee size weight height age name number color colour length width \
            grade title date state class plan level code model brand engine room seat",
        unique: "latest current default newest main only total official stable primary present \
            overall favourite favorite",
        former: "first former previous earlier ex past last next previously formerly then \
            original initial the_old 's_old his_old her_old their_old my_old",
        several: "port part_of passport ticket certificate bag node subscription includ+e+es listen+s_on among brother sister son daughter child friend colleague cousin uncle aunt niece \
            nephew cat dog pet customer client hobby roommate teammate teacher author guest \
            speaker participant supplier godson grandson stepson course lesson session lecture bus \
            train flight trip visit appointment meeting class call book song film movie album \
            ticket parcel package invoice order commit issue bug task test exam talk award prize \
            recipe tattoo box shelf sample item example photo picture room game match concert \
            party event kit tablet sensor device plant tree one_of co-author step-son \
            sister-in-law brother-in-law rival rivals",
        states: "open closed merged fixed resolved waiting review progress done blocked finished \
            shipped draft approved rejected pending unresolved todo out released cancelled | \
            passing failing passes fails broken green red flaky | on off enabled disabled active \
            inactive | up down online offline available unavailable | single engaged married \
            divorced widowed separated | employed unemployed retired | alive dead | sick healthy \
            ill well | full empty | locked unlocked | public private internal | free busy | hired \
            fired | optional required mandatory | pregnant | vegetarian vegan | smoker nonsmoker \
            | happy unhappy | working defective | allowed forbidden | awake asleep | installed \
            uninstalled | beta stable deprecated | paid unpaid overdue | scheduled postponed | \
            accepted declined | unmarried | raining sunny | in_stock sold_out | hiring | verified \
            unverified | signed unsigned | enrolled expelled | licensed unlicensed | muted \
            unmuted | frozen thawed | published | read-only writable | encrypted unencrypted | \
            manual automatic automatically manually | unblocked | passed failed | winning losing \
            | on-site remote hybrid | dry wet | clean dirty | blonde brunette | short long | \
            left-handed right-handed | works out_of_order broken_down under_repair | occupied \
            vacant | on_time late delayed | rented owned | renting owner | day_shift night_shift \
            | part-time full-time",
        units: "second+s minute+s hour+s day+s week+s month+s year+s euro+s dollar+s pound+s yen \
            franc+s kg g mg km m cm mm mb gb tb kb ms s h percent request+s job+s message+s item+s \
            person people member+s employee+s token+s degree+s step+s point+s lit+er+ers+re+res \
            mile+s inch+es feet foot ml l kwh watt+s replica+s worker+s retries attempt+s times \
            cup+s cigarette+s core+s node+s page+s line+s character+s am pm",
        days: "monday+s tuesday+s wednesday+s thursday+s friday+s saturday+s sunday+s",
        seasons: "spring summer autumn winter q1 q2 q3 q4 easter christmas",
        past: "was were had went saw met took ran paid read won spent sent gave came flew broke \
            been done got lost found moved watched wrote hosted finished started participated \
            travelled traveled hiked climbed tried made did ate drank slept drove rode sang swam \
            taught told thought threw wore fell felt kept knew led built bought brought caught \
            chose cooked painted fixed cleaned visited attended joined launched played worked \
            studied lived stayed used liked loved wanted needed helped signed planted",
        qualifiers: "morning evening night noon afternoon weekday+s weekend+s home work production \
            staging test development windows linux macos ios android reads writes summer winter \
            spring autumn guests visitors personal business internal external left right upper \
            lower north south east west front back indoor outdoor upload download incoming \
            outgoing local remote mobile desktop daily weekly monthly yearly annual beta stable \
            holidays weekend vacation",
        regions: "afghanistan albania algeria argentina armenia australia austria azerbaijan \
            bangladesh belarus belgium bolivia bosnia brazil britain bulgaria cambodia cameroon \
            canada chile china colombia croatia cuba cyprus czechia denmark ecuador egypt england \
            estonia ethiopia europe finland france georgia germany ghana greece guatemala hungary \
            iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan \
            kenya kuwait latvia lebanon libya lithuania luxembourg malaysia malta mexico moldova \
            mongolia montenegro morocco nepal netherlands nicaragua niger nigeria norway oman \
            pakistan panama paraguay peru philippines poland portugal qatar romania russia \
            scotland senegal serbia singapore slovakia slovenia somalia spain sudan sweden \
            switzerland syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay usa \
            us uk venezuela vietnam wales yemen zambia zimbabwe asia africa america bavaria saxony \
            texas california ontario quebec catalonia tuscany brittany normandy town village city \
            countryside suburb+s district county coast abroad",
        verbs: "require+s+d send+s return+s serv+e+es handl+e+es com+e+es goes stand+s sit+s \
            swim+s ski+s sleep+s smok+e+es call+s bring+s show+s mak+e+es get+s think+s \
            belie+ve look+s+ing wait+s+ing mean+s say+s put+s turn+s arrive+s arriv+es land+s say \
            becam+e fail+s pass+es fir+es crash+es rain+s hurt+s fli+es travel+s volunteer+ing \
            study+ing learn+ing train+ing stud+y can must fits react+s+ed answer+s exist+s \
            lies belongs cycles subscribes sings",
        titles: "dr mr mrs ms prof sir",
        idioms: "can_not_wait can_wait can_not_help can_not_stand can_not_complain \
            can_not_believe no_doubt no_wonder not_bad not_far not_least not_un* nothing_but \
            now_and_then left_hand left_side left_knee left_shoulder left_leg left_foot left_arm \
            left_eye left_ear no_longer_than no_one no_problem by_no_means more_or_less \
            turn_out_well any_longer_than stopped_at stopped_by stopped_for stopped_in \
            switched_off_notifications closed_question right_away for_good no_sooner a_second \
            just_in_time second_hand even_though got_to_know moved_by moved_to_tears moved_on \
            hard_work at_work_on work_of_art team_work has_been_married dropped_off \
            since_childhood since_he_was since_she_was since_i_was since_they_were since_the_age \
            since_birth has_always have_always has_been_helping",
        home: "liv+e+es+ed+ing resid+e+es+ing+ence based moved relocated home_address address \
            settled lives_with rents apartment flat residence moves moved_away moved_away_from \
            moved_out_of relocates relocation relocating settled_in settled_down moved_in \
            moved_back moved_out moved_to housemate lodger tenant_of house cottage apartment_in \
            flat_in condo dorm dormitory houseboat studio sublet lodging lodges camper farmhouse \
            bungalow resides_in homeless lives_alone lives_on_her_own shares_a_house shares_a_flat",
        work: "work+s_at work+s_for work+s_as works employed unemployed joined hired promoted \
            retired job position role engineer developer manager resigned offer freelanc+e+es+er \
            laid_off fired employer company nurse teacher lawyer analyst designer accountant \
            intern internship apprentice student studies studying graduated law_school teaches \
            career occupation profession jobless self-employed director assistant clerk waiter \
            chef pilot driver treasurer secretary consultant startup dropped_out hires firm \
            employer's freelancing contractor contract_at tenure internship_at self_employed \
            unemployed_since sabbatical redundancy redundant sacked dismissed promoted_to demoted \
            works_part-time works_full-time part-time full-time barista bartender cashier mechanic \
            electrician plumber carpenter farmer librarian journalist editor_at reporter \
            photographer translator researcher professor lecturer postdoc doctorate phd masters \
            bachelor scientist programmer developer_at sysadmin devops architect accountant_at \
            banker broker_at realtor paramedic firefighter soldier officer detective judge \
            prosecutor solicitor paralegal receptionist administrator coordinator supervisor \
            foreman dishwasher cook baker butcher florist hairdresser tailor designer_at \
            illustrator animator musician_at head_of vice_president vp cto_at ceo_at trainee \
            apprenticeship vocational high_school college university major grade semester freshman \
            sophomore junior_year senior_year enrolled leads_the runs_her_own runs_his_own \
            owns_a_business",
        marriage: "single engaged married marries marry divorced divorce separated widowed dating \
            girlfriend boyfriend fiancé fiancée fiance fiancee wife husband spouse broke_up \
            split_up wedding_to partner relationship newlywed newlyweds got_married got_engaged \
            got_back_together together_with in_a_relationship went_separate separation wedded \
            remarried boyfriends girlfriends breakup ex-husband ex-wife seeing_someone \
            living_together civil_partnership annulled tied_the_knot bachelorette \
            proposal_accepted split separated_from bachelor unmarried",
        diet: "eats_meat eats_no_meat vegetarian vegan pescatarian meat diet keto gluten \
            carnivore omnivore plant-based vegetarianism lactose-free gluten-free dairy-free \
            low-carb paleo fasting halal kosher eats_only omnivorous flexitarian sober teetotal \
            drinks_no_alcohol alcohol alcohol-free smok+e+es+er+ing cigarette+s drinks_alcohol \
            vapes vaping eats_everything eats_anything eats_all_kinds",
        health: "pregnant gave_birth sick_leave ill sick recovered healthy injured cast crutches \
            hospital back_at_work diagnosed remission surgery operated chemo broken_arm broken_leg \
            sprained concussion flu covid pneumonia bedridden hospitalised hospitalized discharged \
            wheelchair limping trimester newborn delivered_a due_in miscarriage sobriety relapse \
            relapsed cancer-free healed cough fever migraine rehab physio physiotherapy \
            on_crutches contagious quarantine isolating",
        past_endings: "ed",
        counting: "one two three four five six seven eight nine ten eleven twelve",
        age: "years_old year_old turned age aged",
        uses: "use+s+d run+s+ning drive+s employ+s built written hosted stored stores",
        feels: "passion passionate determined inspiration inspired inspires motivation motivated \
            motivates appreciates appreciate values grateful proud excited joy fulfillment \
            fulfilling happiness journey dream dreams vision believes believe admires finds feels \
            feel love loves enjoys enjoy therapeutic encourages encouraged supportive hopeful \
            hopes positive overwhelming rewarding thrilled escape relaxing relax expression \
            expressing meaningful memories impact community amazing awesome inspiring curious \
            working_on just_got_back improving",
        awaits: "waiting_for waiting_to waiting_on awaits awaiting looking_for_a looking_for \
            searching_for hunting_for saving saving_for saving_up training_for preparing_for \
            preparing struggling struggles trying_to still is_still can't cannot_yet not_yet \
            has_yet yet_to expecting is_expecting fasting_for recovering in_hospital \
            on_sick_leave on_leave undergoing hopes_for applied_for in_rehab",
        at_last: "finally at_last at_long_last in_the_end eventually_became these_days nowadays \
            by_now for_good once_and_for_all meanwhile lately since_then ever_since from_then_on \
            so_now the_time_has_come it_is_official is_history are_history thing_of_the_past \
            days_are_over no_trace_of that's_it that_is_it all_set gave_the_green_light \
            gave_the_go-ahead green-lit greenlit made_up_with talked_me_into talked_her_into \
            talked_him_into talked_them_into came_around fell_in_love_with turned_out_to_be \
            turned_into_a all_systems_normal as_good_as_new does_everything all_over_with \
            without_a_problem without_problems isn't_scared can_do_without no_problem_at_all \
            set_a_new",
        recent: "yesterday last_night last_week last_weekend last_month last_year last_friday \
            last_monday last_tuesday last_wednesday last_thursday last_saturday last_sunday \
            over_the_weekend over_the_holidays over_christmas over_easter over_the_summer \
            this_morning this_afternoon the_other_day this_spring \
            this_summer this_autumn this_winter during_the_outage a_week_ago \
            on_tuesday",
        articles: "the a an",
        finite: "is are was were am has have had does did do will",
        joins: "and or but which who that because while whereas so plus",
        families: "vehicle: car+s van+s motorbike+s motorcycle+s scooter+s truck+s suv hatchback \
            minivan convertible vw golf passat polo fiat punto panda ford fiesta opel corsa astra \
            toyota yaris corolla prius honda civic volvo saab seat ibiza skoda octavia fabia bmw \
            audi mercedes renault clio twingo zoe peugeot citroën citroen dacia tesla hyundai \
            ioniq kia mazda nissan leaf subaru suzuki vespa jeep porsche lexus campervan moped \
            electric_car diesel hybrid driv+e+es+ing drove garage parking_space scrapyard \
            gets_around | commute: commut+e+es+ed+ing bus tram train tube subway metro \
            underground bike+s cycl+e+es+ing+ed bicycle walk+s_to_work walk+s_to_the_office \
            takes_the_bus takes_the_train takes_the_tram takes_the_tube drives_to_work \
            drives_to_the_office carpool+s ferry to_the_office to_work works_from_home \
            work_from_home | phone: phone+s iphone+s android pixel galaxy samsung smartphone+s \
            fairphone handset nokia xiaomi oneplus mobile sim | computer: laptop+s macbook \
            thinkpad desktop pc imac chromebook notebook_computer workstation tablet+s ipad dell \
            | sleep: sleep+s+ing slept alarm wake+s_up waking_up get_up gets_up got_up \
            goes_to_bed go_to_bed bedtime early_riser night_owl insomnia nap+s bed mattress \
            snooz+e+es lie_in lies_in sleeps_in asleep crib | study: study+ing studies studied \
            student degree university uni college school semester thesis phd masters bachelor's \
            master's course graduated graduate graduation grade freshman sophomore exam+s finals \
            diploma enrolled apprenticeship dropped_out medicine_degree kindergarten nursery \
            elementary_school primary_school middle_school high_school fifth_grade fourth_grade \
            sixth_grade third_grade first_grade seventh_grade eighth_grade ninth_grade | tongue: \
            learning_spanish learning_french learning_german learning_italian learning_japanese \
            learning_portuguese learning_greek spanish french german italian japanese portuguese \
            greek korean mandarin chinese arabic russian dutch swedish norwegian danish polish \
            turkish hindi esperanto catalan welsh irish duolingo | child: pregnant pregnancy \
            expecting newborn baby maternity paternity gave_birth was_born first_child trimester \
            ivf adoption little_boy little_girl baby_girl baby_boy twins new_arrival | pet: dog+s \
            cat+s kitten+s puppy puppies rabbit+s hamster+s parrot+s goldfish horse+s pony \
            tortoise turtle guinea_pig beagle labrador poodle terrier spaniel budgie ferret vet \
            pet+s shelter rainbow_bridge litter leash kibble wet_food dry_food | allergy: \
            allerg+ic+y+ies intolerant intolerance tolerat+e+es anaphylaxis epipen hay_fever \
            lactose gluten penicillin peanut+s shellfish antihistamine+s desensitis+ed \
            outgrew_the_allergy | medicine: medication+s medicine+s pill+s tablet+s_a_day mg dose \
            dosage prescription prescribed antidepressant+s citalopram sertraline ibuprofen \
            statin+s insulin metformin antibiotic+s painkiller+s inhaler ssri steroid+s \
            beta_blocker+s blood_pressure_pills off_medication therapy therapist | smoking: \
            smok+e+es+er+ing+ed cigarette+s tobacco vap+e+es+ing nicotine pack_a_day non-smoker \
            nonsmoker cigar+s | alcohol: alcohol beer+s wine drinks_alcohol sober teetotal whisky \
            whiskey booze dry_january alcohol-free gin cocktail+s | drink: coffee tea espresso \
            cappuccino latte decaf matcha oat_milk americano flat_white cola soda green_tea \
            black_tea herbal_tea | sport: gym football soccer tennis basketball volleyball \
            handball hockey rugby cricket swimming swim+s running runner run+s_marathons marathon \
            half-marathon triathlon yoga pilates boxing karate judo climbing bouldering crossfit \
            rowing cycling_club skiing badminton squash golf_club fencing dance_class zumba \
            training_for trains_for club league team_captain goalkeeper striker jogging jogs \
            workout+s personal_trainer | music: piano guitar violin cello flute clarinet trumpet \
            saxophone sax drums drummer oboe bassoon viola harp accordion ukulele banjo bass \
            choir orchestra band sings_in plays_in tenor soprano trombone | hair: hair beard \
            moustache mustache bald clean-shaven shaved haircut bob dreadlocks curly blonde blond \
            brunette redhead fringe ponytail braids grey_hair dyed | sight: glasses \
            contact_lenses contacts spectacles eyesight lasik laser_eye_surgery lenses varifocals \
            | bank: bank+s account+s_at bank_account checking_account current_account \
            savings_account credit_union credit_card+s monzo santander barclays hsbc revolut n26 \
            chase starling lloyds natwest ing citibank wells_fargo | insurance: insurance insured \
            insurer policy allianz axa geico aetna premium coverage underwriter | provider: \
            provider broadband internet_provider isp mobile_plan phone_plan electricity \
            energy_provider gas_supplier vodafone o2 telekom verizon at&t t-mobile comcast ee \
            starlink fibre contract tariff utility heating gas_heating heat_pump solar_panels gas \
            | media: netflix spotify disney+ hulu youtube_premium apple_music tidal \
            subscription+s subscrib+e+es+ed newsletter magazine newspaper podcast streaming \
            audible kindle_unlimited unsubscribed daily_digest digest daily_emails weekly_email | \
            contact: address email e-mail phone_number mobile_number zip_code postcode lives_at \
            mailbox extension landline handle username screen_name user_name website | money: \
            salary wage rent mortgage budget pay+s price cost+s earn+s savings debt owe+s+d loan \
            pocket_money income fee deposit raise euros_a_month a_month a_year hourly_rate \
            allowance paid_off pays_off instalment+s square overdraft | appointment: appointment \
            meeting+s standup stand-up deadline due_date due launch kickoff kick-off freeze demo \
            retro interview wedding party rehearsal class_on lesson+s session+s workshop webinar \
            sync one-on-one checkup check-up dentist_appointment surgery_is conference \
            release_date ship_date review_meeting planning_meeting board_meeting slot date \
            ceremony funeral exam_is delivery | travel: trip flight+s flying fly flies booked \
            hotel airbnb vacation holiday+s travelling traveling cruise visa itinerary train_to \
            ticket+s_to tour hiking_trip road_trip backpacking honeymoon airport trek destination \
            passport | charge: owner+s ownership own+s_the maintainer maintained maintains lead+s \
            leader leading led manager manages managed head_of heads in_charge responsible \
            on_call on-call pager assignee assigned assigned_to belongs_to run_by looks_after \
            handles_the runs_the coordinator coordinates admin_rights product_owner tech_lead \
            reports_to supervisor boss chair+s treasurer captain ceo cto approver reviewer \
            point_of_contact takes_care_of oncall handed_over took_over drummer_of singer_of \
            captain_of president_of coach coaches coached secretary_of class_president | \
            progress: draft in_review in_progress pending blocked blocker waiting_for awaiting \
            sign-off signed_off approval approved rejected todo backlog in_development \
            under_development work_in_progress wip shipped released live rolled_out beta alpha \
            launched done finished completed on_hold paused stalled cancelled shelved failing \
            fails flaky green red broken crash+es+ed+ing bug outage down green_light merged open \
            closed reopened planned scheduled in_production ga deprecated feature_freeze go-live \
            sunset archived | database: database+s db mysql postgres postgresql sqlite mariadb \
            mongodb mongo redis dynamodb cassandra oracle_db oracle sql_server cockroachdb \
            bigquery snowflake redshift clickhouse duckdb elasticsearch opensearch neo4j \
            firestore | code: python java javascript typescript ruby rust golang kotlin php perl \
            scala c# c++ elixir haskell clojure dart lua zig nim written_in rewritten rewrite \
            programming_language coded_in ported_to cobol fortran julia erlang bash zsh | \
            framework: framework react vue angular svelte django flask fastapi rails laravel \
            spring_boot next.js nextjs nuxt jquery backbone ember tailwind bootstrap pytorch \
            tensorflow jax keras pandas polars numpy pytest unittest jest vitest mocha cypress \
            playwright selenium webpack vite rollup esbuild | editor: editor vim neovim emacs \
            vscode vs_code pycharm intellij sublime sublime_text webstorm eclipse xcode ide | \
            hosting: hosted host+s hosting hetzner aws azure gcp google_cloud heroku vercel \
            netlify digitalocean digital_ocean linode fly.io on-prem on-premises cloud ovh \
            scaleway cloudflare server+s cluster kubernetes k8s docker nomad ecs lambda ec2 \
            eu-west-1 us-east-1 frankfurt_region data_center data_centre vps bare_metal \
            container+s region deployed runs_on lives_on systemd | pipeline: ci pipeline+s \
            jenkins github_actions gitlab_ci circleci travis teamcity buildkite argo argocd \
            build+s cron_job+s cronjob+s nightly airflow dagster prefect terraform pulumi ansible \
            helm cron | system: linux ubuntu debian fedora arch windows macos nixos os \
            operating_system android_version red_hat centos alpine wsl | chat: slack teams \
            discord mattermost zulip irc whatsapp telegram zoom google_meet skype webex messenger \
            rocket.chat | tracker: jira linear trello asana github_issues issue_tracker tickets \
            basecamp monday.com shortcut redmine bugzilla youtrack kanban issues backlog_tool \
            azure_devops | notes: notion obsidian evernote onenote confluence wiki google_docs \
            google_keep roam logseq apple_notes notebook notes journal diary bullet_journal \
            spreadsheet+s excel google_sheets xero quickbooks bookkeeping accounts_in moleskine | \
            repository: branch+es default_branch main_branch trunk git_flow gitflow \
            squash+ed+es+ing rebas+e+es+ed+ing merge_commit+s merge_policy force_push monorepo \
            mono-repo github gitlab bitbucket gitea codeberg mercurial svn pull_request+s \
            code_review release+s release_branch tags conventional_commits semver calver commit+s \
            | license: license licence licensed gpl agpl mit apache bsd mpl closed_source \
            open_source open-source open-sourced proprietary relicensed source-available \
            open-sourcing | format: tabs spaces indentation indent bullet_points bullets markdown \
            plain_text prose tone concise short_answers long_answers detailed_answers verbose \
            formal informal casual emoji+s camelcase snake_case line_length black ruff prettier \
            flake8 pylint eslint formatter linter style_guide docstring+s dark_mode light_mode \
            dark_theme light_theme font theme answer+s_in reply_in replies_in celsius fahrenheit \
            metric imperial units dates_in 24-hour 12-hour | greeting: called call+s_me nickname \
            pronouns goes_by name+s surname maiden_name first_name last_name first-name formally \
            by_first_name is_called they/them she/her he/him dubbed addressed | staff: employees \
            developers engineers team_size headcount people_on_the_team members staff layoffs \
            laid_off hired hires only_developer developer_on team_of grew_to shrank_to volunteers \
            interns | friendship: friends best_friend+s speaking_terms fell_out made_up argument \
            feud reconciled not_talking estranged on_good_terms quarrel rivals enemies in_touch \
            lost_touch crush | injury: broken_arm broken_leg cast crutches sprained ankle knee \
            wrist physio physiotherapy sling limp+s+ing surgery wheelchair back_pain brace \
            stitches healed fracture+d cast_off injury injured hospital pneumonia ward discharged \
            sent_home transplant kidney recovering operation | reading: reading book+s novel \
            audiobook finished_reading chapter halfway_through started_reading series season \
            episode watching binge-watching | furniture: sofa couch desk bed_frame wardrobe \
            fridge washing_machine dishwasher oven tv television armchair bookshelf mattress \
            standing_desk freezer vacuum dryer microwave bathtub | permit: driving_licence \
            driving_license driver's_license driving_test learner visa residence_permit \
            green_card citizenship work_permit passport certificate certification licensed_as \
            exam_passed driving_lessons | housing: flat apartment house room studio cottage \
            flatmate flatmates roommate roommates landlord rent+s+ed+ing lease tenant tenants \
            homeowner parents'_place parents place_of_her_own place_of_his_own place_of_their_own \
            place_of_my_own own_place bought_a_house bought_a_flat keys_to lives_with moved \
            moving removal_van sublet lodger residence new_place caravan dorm dormitory settled | \
            food: vegetarian vegan pescatarian meat seafood fish pork beef chicken dairy eggs \
            steak+s eats plant-based keto paleo gluten-free lactose-free cheese sushi spicy sugar \
            sweets chocolate fasting fasts diet halal kosher breakfast oyster+s | shift: \
            night_shift day_shift late_shift early_shift shift+s nights on_days part-time \
            full-time works_from works_until hours_a_week four-day_week weekend_shifts overtime | \
            files: csv json xml yaml toml parquet avro protobuf pdf+s html docx xlsx jpeg png \
            webp mp3 flac latex | secret: password+s passphrase passkey+s pin 2fa two-factor \
            authenticator api_key token+s ssh_key certificate login wi-fi_password sso oauth ldap \
            saml | fear: afraid scared fear+s phobia terrified frightened fearless nervous \
            anxious anxiety panic dread+s overcame stage_fright | workplace: office headquarters \
            hq desk floor building seat cubicle open-plan coworking campus branch_office workshop \
            premises room_number",
        numbered: "release+s version ticket+s issue sprint+s chapter+s pr rfc adr floor+s \
            step+s phase+s milestone+s episode+s lesson iteration build story section+s page+s \
            volume part season week day quarter level round stage gate room apartment flat line \
            item invoice+s order case exhibit article lot batch migration notes epic bug patch \
            hotfix commit pep cve stop track unit block shelf terminal platform",
        renames: "renamed renam+e+es rechristened",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
